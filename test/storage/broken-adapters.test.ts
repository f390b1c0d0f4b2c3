import { describe, expect, test } from 'vitest';
import { SkillError } from '../../src/core/errors.ts';
import type { ObjectStore, PutCondition, StoredObject } from '../../src/storage/object-store.ts';
import { holds, memoryObjectStore, nextTurn } from './memory-store.ts';
import type { Objects } from './memory-store.ts';
import { OBJECT_STORE_CLAUSES } from './object-store-suite.ts';

/** The names of the clauses that a store does not keep. */
async function brokenClauses(makeStore: () => ObjectStore): Promise<string[]> {
  const broken: string[] = [];
  for (const clause of OBJECT_STORE_CLAUSES) {
    await clause.check(makeStore()).catch(() => broken.push(clause.name));
  }
  return broken;
}

/** A correct store, and a map behind it that can be changed in ways that the contract does not allow. */
type Break = (store: ObjectStore, objects: Objects) => Partial<ObjectStore>;

interface BrokenAdapter {
  readonly breaks: string;
  /** The clause that must tell. Others may tell too. */
  readonly clause: string;
  readonly by: Break;
}

const ADAPTERS: readonly BrokenAdapter[] = [
  // What is absent, and what is not
  {
    breaks: 'an absent object is an error',
    clause: 'an absent object is undefined, whatever ETag is given',
    by: (store) => ({
      async get(key, unless) {
        const found = await store.get(key, unless);
        if (found === undefined) throw new SkillError('unavailable');
        return found;
      },
    }),
  },
  {
    breaks: 'an absent object is unmodified',
    clause: 'an absent object is undefined, whatever ETag is given',
    by: (store) => ({
      async get(key, unless) {
        return (await store.get(key, unless)) ?? (unless === undefined ? undefined : 'unmodified');
      },
    }),
  },
  {
    breaks: 'a folder is an empty object',
    clause: 'an absent object is undefined, whatever ETag is given',
    by: (store, objects) => ({
      async get(key, unless) {
        const isFolder = [...objects.keys()].some((other) => other.startsWith(`${key}/`));
        const found = await store.get(key, unless);
        return found ?? (isFolder ? { bytes: new Uint8Array(), etag: '"folder"' } : undefined);
      },
    }),
  },
  {
    breaks: 'an empty object is absent',
    clause: 'an empty object is there, and is not absent',
    by: (store) => ({
      async get(key, unless) {
        const found = await store.get(key, unless);
        return found === undefined || found === 'unmodified' || found.bytes.length > 0 ? found : undefined;
      },
    }),
  },

  {
    breaks: 'the size of an absent object is 0',
    clause: 'size is the number of bytes, of the current state, and undefined where there is no object',
    by: (store) => ({ size: async (key) => (await store.size(key)) ?? 0 }),
  },
  {
    breaks: 'the size is of the first state',
    clause: 'size is the number of bytes, of the current state, and undefined where there is no object',
    by: (store) => {
      const first = new Map<string, number>();
      return {
        async put(key, bytes, condition, lifetime) {
          const outcome = await store.put(key, bytes, condition, lifetime);
          if (outcome !== 'stale' && !first.has(key)) first.set(key, bytes.length);
          return outcome;
        },
        size: (key) => Promise.resolve(first.get(key)),
      };
    },
  },
  {
    breaks: 'a lifetime replaces what is there',
    clause: 'an object with a lifetime is as any other until its days are over',
    by: (store, objects) => ({
      put: (key, bytes, condition, lifetime) =>
        lifetime === undefined ? store.put(key, bytes, condition) : write(objects, key, bytes, () => true),
    }),
  },

  // Conditions
  {
    breaks: 'put absent is not conditional',
    clause: 'put absent on an object is stale and leaves it as it was',
    by: (store, objects) => ({
      put: (key, bytes, condition) =>
        condition === 'absent' ? write(objects, key, bytes, () => true) : store.put(key, bytes, condition),
    }),
  },
  {
    breaks: 'put absent says stale and writes all the same',
    clause: 'put absent on an object is stale and leaves it as it was',
    by: (store, objects) => ({
      async put(key, bytes, condition) {
        const outcome = await store.put(key, bytes, condition);
        if (outcome === 'stale' && condition === 'absent') objects.set(key, { bytes, etag: '"lost"' });
        return outcome;
      },
    }),
  },
  {
    breaks: 'put absent succeeds where the bytes are the same',
    clause: 'put absent on an object is stale and leaves it as it was',
    by: (store, objects) => ({
      async put(key, bytes, condition) {
        const found = objects.get(key);
        const same = found !== undefined && Buffer.compare(found.bytes, bytes) === 0;
        return condition === 'absent' && same ? { etag: found.etag } : store.put(key, bytes, condition);
      },
    }),
  },
  {
    breaks: 'put absent knows only objects that were never replaced',
    clause: 'put absent on a replaced object is stale',
    by: (store) => {
      const replaced = new Set<string>();
      const puts = memoryObjectStore();
      return {
        async put(key, bytes, condition) {
          if (condition === 'absent' && replaced.has(key)) return puts.put(key, bytes, condition);
          const outcome = await store.put(key, bytes, condition);
          if (condition !== 'absent' && outcome !== 'stale') replaced.add(key);
          return outcome;
        },
      };
    },
  },
  {
    breaks: 'put matches is not conditional',
    clause: 'put matches with an ETag of the past is stale and leaves the object as it was',
    by: (_, objects) => ({
      put: (key, bytes, condition) =>
        write(objects, key, bytes, (found) => condition !== 'absent' || found === undefined),
    }),
  },
  {
    breaks: 'put matches takes any ETag that the store gave',
    clause: 'put matches with the ETag of another object is stale',
    by: (_, objects) => {
      const given = new Map<string, string>();
      return {
        async put(key, bytes, condition) {
          const outcome = await write(objects, key, bytes, (found) =>
            condition === 'absent'
              ? found === undefined
              : given.has(condition.matches) &&
                (given.get(condition.matches) !== key || holds(condition, found)),
          );
          if (outcome !== 'stale') given.set(outcome.etag, key);
          return outcome;
        },
      };
    },
  },
  {
    breaks: 'put matches creates what is absent',
    clause: 'put matches on an absent object is stale and creates nothing',
    by: (_, objects) => ({
      put: (key, bytes, condition) =>
        write(objects, key, bytes, (found) => found === undefined || holds(condition, found)),
    }),
  },
  {
    breaks: 'put matches never holds',
    clause: 'put matches replaces the object that has the ETag',
    by: (store) => ({
      put: async (key, bytes, condition) =>
        condition === 'absent' ? store.put(key, bytes, condition) : 'stale',
    }),
  },
  {
    breaks: 'put matches wants the ETag that put told, and get tells another',
    clause: 'put matches takes an ETag that get answered',
    by: (store) => ({
      async get(key, unless) {
        const found = await store.get(key, unless);
        return found === undefined || found === 'unmodified'
          ? found
          : { ...found, etag: `${found.etag}-gzip` };
      },
    }),
  },
  {
    breaks: 'a lost condition is an error',
    clause: 'put absent on an object is stale and leaves it as it was',
    by: (store) => ({
      async put(key, bytes, condition) {
        const outcome = await store.put(key, bytes, condition);
        if (outcome === 'stale') throw new SkillError('unavailable');
        return outcome;
      },
    }),
  },

  // ETags
  {
    breaks: 'put and get tell different ETags',
    clause: 'put absent creates what get then answers, with the same ETag',
    by: (store) => ({
      async put(key, bytes, condition) {
        const outcome = await store.put(key, bytes, condition);
        return outcome === 'stale' ? outcome : { etag: outcome.etag.replaceAll('"', '') };
      },
    }),
  },
  {
    breaks: 'the ETag is the size',
    clause: 'every replacement has a strong ETag of its own',
    by: (_, objects) => ({
      put: (key, bytes, condition) =>
        write(objects, key, bytes, (found) => holds(condition, found), `"${bytes.length}"`),
    }),
  },
  {
    breaks: 'ETags are weak',
    clause: 'every replacement has a strong ETag of its own',
    by: (_, objects) => ({
      put: (key, bytes, condition) =>
        write(objects, key, bytes, (found) => holds(condition, found), `W/${nextEtag()}`),
    }),
  },
  {
    breaks: 'get is never unmodified',
    clause: 'get is unmodified for the ETag that stands',
    by: (store) => ({ get: (key) => store.get(key) }),
  },
  {
    breaks: 'get is unmodified for every ETag',
    clause: 'get is the whole object for any other ETag',
    by: (store, objects) => ({
      get: (key, unless) => store.get(key, unless === undefined ? undefined : objects.get(key)?.etag),
    }),
  },
  {
    breaks: 'an unmodified object is an error',
    clause: 'get is unmodified for the ETag that stands',
    by: (store) => ({
      async get(key, unless) {
        const found = await store.get(key, unless);
        if (found === 'unmodified') throw new SkillError('unavailable');
        return found;
      },
    }),
  },

  // Bytes
  {
    breaks: 'bytes pass through text',
    clause: 'bytes come back exactly, all 256 values and what is not text',
    by: (store) => ({
      put: (key, bytes, condition) =>
        store.put(key, Buffer.from(Buffer.from(bytes).toString('utf8')), condition),
    }),
  },
  {
    breaks: 'line ends are changed',
    clause: 'bytes come back exactly, all 256 values and what is not text',
    by: (store) => ({
      put: (key, bytes, condition) =>
        store.put(
          key,
          Buffer.from(Buffer.from(bytes).toString('latin1').replaceAll('\r\n', '\n'), 'latin1'),
          condition,
        ),
    }),
  },
  {
    breaks: 'bytes end at 5 MiB',
    clause: '6 MB come back exactly',
    by: (store) => ({
      put: (key, bytes, condition) => store.put(key, bytes.subarray(0, 5 * 1024 * 1024), condition),
    }),
  },
  {
    breaks: "the writer's array is kept",
    clause: 'a stored object shares no memory with its writer and its readers',
    by: (store, objects) => ({
      async put(key, bytes, condition) {
        const outcome = await store.put(key, bytes, condition);
        if (outcome !== 'stale') objects.set(key, { bytes, etag: outcome.etag });
        return outcome;
      },
    }),
  },
  {
    breaks: 'readers get the kept array',
    clause: 'a stored object shares no memory with its writer and its readers',
    by: (_, objects) => ({
      get: (key, unless) => {
        const found = objects.get(key);
        return Promise.resolve(found?.etag === unless && found !== undefined ? 'unmodified' : found);
      },
    }),
  },

  // Keys
  ...(
    [
      ['keys are decoded as URLs', (key) => decodeLeniently(key)],
      ['keys differ in more than case only', (key) => key.toLowerCase()],
      ['keys are brought into a normal form', (key) => key.normalize('NFC')],
      ['keys lose what UTF-16 halves cannot say', (key) => key.replaceAll(/[\ud800-\udfff]/g, '\ufffd')],
      ['keys lose space at the end', (key) => key.trimEnd()],
      ['keys lose dots at the end', (key) => key.replace(/\.+$/, '')],
      ['backslashes are slashes', (key) => key.replaceAll('\\', '/')],
    ] satisfies [string, (key: string) => string][]
  ).map(([breaks, changed]): BrokenAdapter => ({
    breaks,
    clause: 'odd keys are each an object of their own, and listed as they are',
    by: (store) => ({
      get: (key, unless) => store.get(changed(key), unless),
      put: (key, bytes, condition) => store.put(changed(key), bytes, condition),
    }),
  })),
  {
    breaks: 'a folder cannot be an object too',
    clause: 'a key may begin with another key and a slash',
    by: (store, objects) => ({
      async put(key, bytes, condition) {
        const known = [...objects.keys()];
        if (known.some((other) => other.startsWith(`${key}/`) || key.startsWith(`${other}/`)))
          throw new SkillError('unavailable');
        return store.put(key, bytes, condition);
      },
    }),
  },

  // Lists
  {
    breaks: 'a prefix matches without its slash',
    clause: 'list answers just the keys that begin with the prefix',
    by: (store) => ({ list: (prefix) => store.list(prefix.replace(/\/$/, '')) }),
  },
  {
    breaks: 'a prefix is always a folder',
    clause: 'list answers just the keys that begin with the prefix',
    by: (store) => ({ list: (prefix) => store.list(prefix === '' ? '' : `${prefix.replace(/\/$/, '')}/`) }),
  },
  {
    breaks: 'a list does not go into folders',
    clause: 'list answers just the keys that begin with the prefix',
    by: (store) => ({
      async *list(prefix) {
        for await (const key of store.list(prefix)) if (!key.slice(prefix.length).includes('/')) yield key;
      },
    }),
  },
  {
    breaks: 'an empty list is an error',
    clause: 'list of an empty store is empty',
    by: (store) => ({
      async *list(prefix) {
        let any = false;
        for await (const key of store.list(prefix)) {
          any = true;
          yield key;
        }
        if (!any) throw new SkillError('unavailable');
      },
    }),
  },
  {
    breaks: 'a list names every write',
    clause: 'list answers a key once, however often it was written',
    by: (store) => {
      const written: string[] = [];
      return {
        async put(key, bytes, condition) {
          const outcome = await store.put(key, bytes, condition);
          if (outcome !== 'stale') written.push(key);
          return outcome;
        },
        async *list(prefix) {
          await nextTurn();
          yield* written.filter((key) => key.startsWith(prefix));
        },
      };
    },
  },
  {
    breaks: 'a list ends at 1,000 keys',
    clause: 'list goes on after 1,000 keys',
    by: (store) => ({
      async *list(prefix) {
        let left = 1_000;
        for await (const key of store.list(prefix)) {
          if (left === 0) return;
          left -= 1;
          yield key;
        }
      },
    }),
  },

  // Several at once
  {
    breaks: 'put absent looks, then writes',
    clause: 'of 20 put absent at once exactly one wins, and its bytes stand',
    by: (store, objects) => ({
      put: (key, bytes, condition) =>
        condition === 'absent'
          ? lookThenWrite(objects, key, bytes, condition)
          : store.put(key, bytes, condition),
    }),
  },
  {
    breaks: 'put matches looks, then writes',
    clause: 'of 20 put matches at once exactly one wins, and its bytes stand',
    by: (store, objects) => ({
      put: (key, bytes, condition) =>
        condition === 'absent'
          ? store.put(key, bytes, condition)
          : lookThenWrite(objects, key, bytes, condition),
    }),
  },
  {
    breaks: 'put matches looks, then writes, and additions get lost',
    clause: 'writers that read, add and retry lose no addition',
    by: (store, objects) => ({
      put: (key, bytes, condition) =>
        condition === 'absent'
          ? store.put(key, bytes, condition)
          : lookThenWrite(objects, key, bytes, condition),
    }),
  },
  {
    breaks: 'the winner is told, and the bytes of a loser stand',
    clause: 'of 20 put absent at once exactly one wins, and its bytes stand',
    by: (store, objects) => ({
      async put(key, bytes, condition) {
        const before = objects.has(key);
        const outcome = await store.put(key, bytes, condition);
        const winner = objects.get(key);
        if (outcome === 'stale' && !before && winner !== undefined) objects.set(key, { ...winner, bytes });
        return outcome;
      },
    }),
  },
  {
    breaks: 'one writer at a time, and the others are stale',
    clause: 'writers of different keys do not disturb each other',
    by: (store) => {
      let busy = false;
      return {
        async put(key, bytes, condition) {
          if (busy) return 'stale';
          busy = true;
          try {
            return await store.put(key, bytes, condition);
          } finally {
            busy = false;
          }
        },
      };
    },
  },
  {
    breaks: 'a replacement is removed first',
    clause: 'who reads while it is replaced gets one whole state, never less and never none',
    by: (store, objects) => ({
      async put(key, bytes, condition) {
        const before = objects.get(key);
        if (before === undefined || !holds(condition, before)) return store.put(key, bytes, condition);
        objects.delete(key);
        await nextTurn();
        objects.set(key, before);
        return store.put(key, bytes, condition);
      },
    }),
  },
  {
    breaks: 'a replacement is written in place',
    clause: 'who reads while it is replaced gets one whole state, never less and never none',
    by: (store, objects) => ({
      async put(key, bytes, condition) {
        const before = objects.get(key);
        const outcome = await store.put(key, bytes, condition);
        const after = objects.get(key);
        if (outcome === 'stale' || before === undefined || after === undefined) return outcome;
        objects.set(key, { ...after, bytes: after.bytes.subarray(0, after.bytes.length / 2) });
        await nextTurn();
        objects.set(key, after);
        return outcome;
      },
    }),
  },
  {
    breaks: 'a read may be of the state before',
    clause: 'who reads while it is replaced gets one whole state, never less and never none',
    by: (store, objects) => {
      const before = new Map<string, StoredObject>();
      let reads = 0;
      return {
        async put(key, bytes, condition) {
          const replaced = objects.get(key);
          const outcome = await store.put(key, bytes, condition);
          if (outcome !== 'stale' && replaced !== undefined) before.set(key, replaced);
          return outcome;
        },
        async get(key, unless) {
          reads += 1;
          return (reads % 5 === 0 ? before.get(key) : undefined) ?? store.get(key, unless);
        },
      };
    },
  },
];

describe('the contract of object stores tells which clause is broken', () => {
  test('a store that keeps the contract passes', async () => {
    expect(await brokenClauses(memoryObjectStore)).toEqual([]);
  });

  for (const { breaks, clause, by } of ADAPTERS) {
    test(`${breaks}: “${clause}”`, async () => {
      const broken = await brokenClauses(() => {
        const objects: Objects = new Map();
        const store = memoryObjectStore(objects);
        return { ...store, ...by(store, objects) };
      });
      expect(broken).toContain(clause);
    });
  }

  test('every clause is told by an adapter that breaks it', () => {
    const told = new Set(ADAPTERS.map((adapter) => adapter.clause));
    expect(OBJECT_STORE_CLAUSES.map(({ name }) => name).filter((name) => !told.has(name))).toEqual([]);
  });
});

let etags = 0;
const nextEtag = (): string => `"w${(etags += 1)}"`;

/** Writes in one step when `may` allows. */
async function write(
  objects: Objects,
  key: string,
  bytes: Uint8Array,
  may: (found: StoredObject | undefined) => boolean,
  etag = nextEtag(),
): Promise<{ etag: string } | 'stale'> {
  await nextTurn();
  if (!may(objects.get(key))) return 'stale';
  objects.set(key, { bytes: bytes.slice(), etag });
  return { etag };
}

async function lookThenWrite(
  objects: Objects,
  key: string,
  bytes: Uint8Array,
  condition: PutCondition,
): Promise<{ etag: string } | 'stale'> {
  if (!holds(condition, objects.get(key))) return 'stale';
  await nextTurn();
  const etag = nextEtag();
  objects.set(key, { bytes: bytes.slice(), etag });
  return { etag };
}

function decodeLeniently(key: string): string {
  return key.replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}
