import type { ObjectStore } from '../../src/storage/object-store.ts';
import type { Table } from '../../src/storage/table.ts';

export interface ObjectCounts {
  get: number;
  /** Of the reads, those that answered "unmodified". */
  unmodified: number;
  put: number;
  size: number;
  list: number;
  /** Bytes that came back. */
  bytes: number;
  keys: string[];
}

export interface TableCounts {
  get: number;
  put: number;
  set: number;
  delete: number;
  add: number;
  query: number;
}

/** Counts what is asked of a store, so that tests can assert reads and bytes instead of time. */
export function countingObjects(store: ObjectStore, counts: ObjectCounts): ObjectStore {
  return {
    async get(key, unless) {
      counts.get += 1;
      counts.keys.push(key);
      const found = await store.get(key, unless);
      if (found === 'unmodified') counts.unmodified += 1;
      else counts.bytes += found?.bytes.length ?? 0;
      return found;
    },
    put(key, bytes, condition, lifetime) {
      counts.put += 1;
      counts.keys.push(key);
      return store.put(key, bytes, condition, lifetime);
    },
    size(key) {
      counts.size += 1;
      counts.keys.push(key);
      return store.size(key);
    },
    list(prefix) {
      counts.list += 1;
      return store.list(prefix);
    },
  };
}

export function countingTable(table: Table, counts: TableCounts): Table {
  return {
    get(key) {
      counts.get += 1;
      return table.get(key);
    },
    put(key, item, condition) {
      counts.put += 1;
      return table.put(key, item, condition);
    },
    set(key, attributes, condition) {
      counts.set += 1;
      return table.set(key, attributes, condition);
    },
    delete(key, condition) {
      counts.delete += 1;
      return table.delete(key, condition);
    },
    add(key, amounts, attributes) {
      counts.add += 1;
      return table.add(key, amounts, attributes);
    },
    query(pk, range) {
      counts.query += 1;
      return table.query(pk, range);
    },
  };
}
