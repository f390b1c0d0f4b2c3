import type { ObjectStore, PutCondition, StoredObject } from '../../src/storage/object-store.ts';

/** What a memory store keeps; adapters that are broken on purpose change it behind the store's back. */
export type Objects = Map<string, StoredObject>;

/** The smallest store that keeps the contract: the reference of broken-adapters.test.ts. */
export function memoryObjectStore(objects: Objects = new Map()): ObjectStore {
  let writes = 0;
  return {
    async get(key, unless) {
      await nextTurn();
      const found = objects.get(key);
      if (found === undefined) return undefined;
      return found.etag === unless ? 'unmodified' : { bytes: found.bytes.slice(), etag: found.etag };
    },
    async put(key, bytes, condition) {
      const given = bytes.slice();
      await nextTurn();
      if (!holds(condition, objects.get(key))) return 'stale';
      writes += 1;
      const etag = `"${writes}"`;
      objects.set(key, { bytes: given, etag });
      return { etag };
    },
    async size(key) {
      await nextTurn();
      return objects.get(key)?.bytes.length;
    },
    async *list(prefix) {
      await nextTurn();
      for (const key of [...objects.keys()]) if (key.startsWith(prefix)) yield key;
    },
  };
}

export function holds(condition: PutCondition, found: StoredObject | undefined): boolean {
  return condition === 'absent' ? found === undefined : found?.etag === condition.matches;
}

/** Lets others run, as a store that waits for a disk or a server does. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
