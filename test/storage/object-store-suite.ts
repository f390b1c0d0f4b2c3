import { describe, expect, test } from 'vitest';
import type { ObjectStore, StoredObject } from '../../src/storage/object-store.ts';

/**
 * What every `ObjectStore` owes, as clauses that are data: adapters run them as tests, and broken-adapters.test.ts runs
 * them against adapters that break one each. A check gets an empty store and throws when the clause does not hold.
 */
export interface Clause {
  readonly name: string;
  check(store: ObjectStore): Promise<void>;
}

/** @param makeStore makes an empty store, for each clause anew */
export function objectStoreContract(
  name: string,
  makeStore: () => ObjectStore | Promise<ObjectStore>,
  options: { readonly skip?: boolean } = {},
): void {
  describe.skipIf(options.skip === true)(name, () => {
    for (const clause of OBJECT_STORE_CLAUSES) {
      test(clause.name, async () => {
        await clause.check(await makeStore());
      });
    }
  });
}

const WRITERS = 20;
const MEGABYTES = 1_000_000;
/** S3 answers a list in pages of 1,000 keys. */
const MORE_THAN_A_PAGE = 1_050;

/** Keys that encodings, file systems and URLs treat in a special way. */
export const ODD_KEYS: readonly string[] = [
  'plain',
  '100%.md',
  '100%25.md',
  'a%2fb.md',
  'a@b/c.md',
  'with space/and  two.md',
  'a+b=c&d?e#f;g,h:i.md',
  "it's (1)!*$.md",
  '"<>|\\^`{}[].md',
  'back\\slash',
  'tab\there',
  'trailing space ',
  'dots/...',
  'dots/.hidden',
  'dots/ends.',
  '.unfinished',
  'tilde~',
  'tilde~/2',
  'plus+',
  'plus+/inside',
  'con',
  'aux.json',
  'über-日本語.md',
  'nfc-\u00e9',
  'nfd-e\u0301',
  'emoji-😀',
  'emoji-😁',
  'Case',
  'case',
  'CASE',
  `long/${'x'.repeat(80)}`,
  `deep/${Array.from({ length: 30 }, (_, index) => `d${index}`).join('/')}`,
  '__proto__',
  'constructor',
];

export const OBJECT_STORE_CLAUSES: readonly Clause[] = [
  {
    name: 'an absent object is undefined, whatever ETag is given',
    async check(store) {
      expect(await store.get('absent')).toBeUndefined();
      expect(await store.get('absent', '"0"')).toBeUndefined();
      await put(store, 'absent/inside', 'x');
      expect(await store.get('absent')).toBeUndefined();
      expect(await store.get('absent/ins')).toBeUndefined();
      expect(await store.get('absent/inside/more')).toBeUndefined();
    },
  },
  {
    name: 'put absent creates what get then answers, with the same ETag',
    async check(store) {
      const etag = await put(store, 'key', 'one');
      expect(await read(store, 'key')).toEqual({ text: 'one', etag });
    },
  },
  {
    name: 'put absent on an object is stale and leaves it as it was',
    async check(store) {
      const etag = await put(store, 'key', 'one');
      expect(await store.put('key', bytes('other'), 'absent')).toBe('stale');
      expect(await store.put('key', bytes('one'), 'absent')).toBe('stale');
      expect(await read(store, 'key')).toEqual({ text: 'one', etag });
    },
  },
  {
    name: 'put absent on a replaced object is stale',
    async check(store) {
      const first = await put(store, 'key', 'one');
      const second = await put(store, 'key', 'two', first);
      const third = await put(store, 'key', 'three', second);
      expect(await store.put('key', bytes('other'), 'absent')).toBe('stale');
      expect(await read(store, 'key')).toEqual({ text: 'three', etag: third });
    },
  },
  {
    name: 'put matches replaces the object that has the ETag',
    async check(store) {
      const first = await put(store, 'key', 'one');
      const second = await put(store, 'key', 'the second', first);
      expect(await read(store, 'key')).toEqual({ text: 'the second', etag: second });
      const third = await put(store, 'key', '3', second);
      expect(await read(store, 'key')).toEqual({ text: '3', etag: third });
    },
  },
  {
    name: 'put matches takes an ETag that get answered',
    async check(store) {
      await put(store, 'key', 'one');
      const { etag } = await read(store, 'key');
      await put(store, 'key', 'two', etag);
      expect((await read(store, 'key')).text).toBe('two');
    },
  },
  {
    name: 'put matches with an ETag of the past is stale and leaves the object as it was',
    async check(store) {
      const first = await put(store, 'key', 'one');
      const second = await put(store, 'key', 'two', first);
      expect(await store.put('key', bytes('six'), { matches: first })).toBe('stale');
      expect(await read(store, 'key')).toEqual({ text: 'two', etag: second });
      const third = await put(store, 'key', 'ten', second);
      expect(await store.put('key', bytes('six'), { matches: first })).toBe('stale');
      expect(await store.put('key', bytes('six'), { matches: second })).toBe('stale');
      expect(await read(store, 'key')).toEqual({ text: 'ten', etag: third });
    },
  },
  {
    name: 'put matches with the ETag of another object is stale',
    async check(store) {
      const etag = await put(store, 'key', 'one');
      const other = await put(store, 'other', 'two');
      expect(await store.put('key', bytes('three'), { matches: other })).toBe('stale');
      expect(await read(store, 'key')).toEqual({ text: 'one', etag });
    },
  },
  {
    name: 'put matches on an absent object is stale and creates nothing',
    async check(store) {
      const etag = await put(store, 'there', 'one');
      expect(await store.put('absent', bytes('two'), { matches: etag })).toBe('stale');
      expect(await store.put('never/was', bytes('two'), { matches: '"0"' })).toBe('stale');
      expect(await store.get('absent')).toBeUndefined();
      expect(await keys(store)).toEqual(['there']);
    },
  },
  {
    name: 'every replacement has a strong ETag of its own',
    async check(store) {
      const etags = [await put(store, 'key', 'state 0')];
      // Bytes of the same length, so that a length does not tell them apart.
      for (let state = 1; state < 10; state += 1) {
        etags.push(await put(store, 'key', `state ${state}`, etags.at(-1)));
        expect((await read(store, 'key')).etag).toBe(etags.at(-1));
      }
      for (const etag of etags) expect(etag).toMatch(/^"[^"\s]+"$/);
      expect(new Set(etags).size).toBe(10);
    },
  },
  {
    name: 'get is unmodified for the ETag that stands',
    async check(store) {
      const first = await put(store, 'key', 'one');
      expect(await store.get('key', first)).toBe('unmodified');
      const second = await put(store, 'key', 'two', first);
      expect(await store.get('key', second)).toBe('unmodified');
      expect(await store.get('key', (await read(store, 'key')).etag)).toBe('unmodified');
    },
  },
  {
    name: 'get is the whole object for any other ETag',
    async check(store) {
      const first = await put(store, 'key', 'one');
      expect(await read(store, 'key', '"0"')).toEqual({ text: 'one', etag: first });
      const second = await put(store, 'key', 'two', first);
      expect(await read(store, 'key', first)).toEqual({ text: 'two', etag: second });
    },
  },
  {
    name: 'an empty object is there, and is not absent',
    async check(store) {
      const etag = await put(store, 'empty.json', new Uint8Array());
      expect(await read(store, 'empty.json')).toEqual({ text: '', etag });
      expect(await store.get('empty.json', etag)).toBe('unmodified');
      expect(await store.put('empty.json', bytes('x'), 'absent')).toBe('stale');
      expect(await keys(store)).toEqual(['empty.json']);
      const full = await put(store, 'empty.json', 'full', etag);
      await put(store, 'empty.json', new Uint8Array(), full);
      expect((await read(store, 'empty.json')).text).toBe('');
    },
  },
  {
    name: 'bytes come back exactly, all 256 values and what is not text',
    async check(store) {
      const all = Uint8Array.from({ length: 256 }, (_, value) => value);
      const notText = Uint8Array.of(
        0xef,
        0xbb,
        0xbf,
        0xff,
        0xfe,
        0x0d,
        0x0a,
        0x00,
        0x0d,
        0xc3,
        0x28,
        0x1a,
        0x0a,
      );
      for (const [key, content] of Object.entries({
        'all.bin': all,
        'not-text.md': notText,
        'a.json': all,
      })) {
        await put(store, key, content);
        expect(Array.from((await whole(store, key)).bytes)).toEqual(Array.from(content));
      }
    },
  },
  {
    name: '6 MB come back exactly',
    async check(store) {
      const content = new Uint8Array(6 * MEGABYTES);
      for (let index = 0; index < content.length; index += 1)
        content[index] = (index * 31 + (index >> 8)) & 0xff;
      const etag = await put(store, 'large', content);
      expect(isSame((await whole(store, 'large')).bytes, content)).toBe(true);
      content[content.length - 1] = 7;
      await put(store, 'large', content, etag);
      expect(isSame((await whole(store, 'large')).bytes, content)).toBe(true);
    },
  },
  {
    name: 'a stored object shares no memory with its writer and its readers',
    async check(store) {
      const given = bytes('given');
      await put(store, 'key', given);
      given.fill(0);
      (await whole(store, 'key')).bytes.fill(0);
      expect((await read(store, 'key')).text).toBe('given');
    },
  },
  {
    name: 'odd keys are each an object of their own, and listed as they are',
    async check(store) {
      const etags = new Map<string, string>();
      for (const key of ODD_KEYS) etags.set(key, await put(store, key, `first of ${key}`));
      for (const key of ODD_KEYS) {
        expect(await read(store, key)).toEqual({ text: `first of ${key}`, etag: etags.get(key) });
        await put(store, key, `second of ${key}`, etags.get(key));
      }
      for (const key of ODD_KEYS) expect((await read(store, key)).text).toBe(`second of ${key}`);
      expect(await keys(store)).toEqual([...ODD_KEYS].sort());
      for (const key of ODD_KEYS) expect(await keys(store, key)).toContain(key);
    },
  },
  {
    name: 'a key may begin with another key and a slash',
    async check(store) {
      const nested = ['a/b/c', 'a', 'a/b', 'a/b/c/d', 'z', 'z/y'];
      for (const key of nested) await put(store, key, key);
      for (const key of nested) {
        const { text, etag } = await read(store, key);
        expect(text).toBe(key);
        await put(store, key, `${key} again`, etag);
      }
      for (const key of nested) expect((await read(store, key)).text).toBe(`${key} again`);
      expect(await keys(store, 'a/')).toEqual(['a/b', 'a/b/c', 'a/b/c/d']);
    },
  },
  {
    name: 'list answers just the keys that begin with the prefix',
    async check(store) {
      const all = ['a/1', 'a/b/2', 'a/bc', 'a.', 'a-b/3', 'ab/4', 'b/a/5', 'A/6'];
      for (const key of all) await put(store, key, key);
      expect(await keys(store, 'a/')).toEqual(['a/1', 'a/b/2', 'a/bc']);
      expect(await keys(store, 'a/b')).toEqual(['a/b/2', 'a/bc']);
      expect(await keys(store, 'a/b/')).toEqual(['a/b/2']);
      expect(await keys(store, 'a')).toEqual(['a-b/3', 'a.', 'a/1', 'a/b/2', 'a/bc', 'ab/4']);
      expect(await keys(store, 'a/1')).toEqual(['a/1']);
      expect(await keys(store, 'a/1/')).toEqual([]);
      expect(await keys(store, 'b/')).toEqual(['b/a/5']);
      expect(await keys(store, 'none/')).toEqual([]);
      expect(await keys(store)).toEqual([...all].sort());
    },
  },
  {
    name: 'size is the number of bytes, of the current state, and undefined where there is no object',
    async check(store) {
      expect(await store.size('absent')).toBeUndefined();
      await put(store, 'absent/inside', 'x');
      expect(await store.size('absent')).toBeUndefined();
      await put(store, 'empty', '');
      expect(await store.size('empty')).toBe(0);
      let etag = await put(store, 'key', '漢字');
      expect(await store.size('key')).toBe(6);
      for (const content of ['longer than before', 'short']) {
        etag = await put(store, 'key', content, etag);
        expect(await store.size('key')).toBe(content.length);
      }
    },
  },
  {
    name: 'an object with a lifetime is as any other until its days are over',
    async check(store) {
      const outcome = await store.put('key', bytes('one'), 'absent', 'upload');
      if (outcome === 'stale') throw new Error('The put was stale.');
      expect(await read(store, 'key')).toEqual({ text: 'one', etag: outcome.etag });
      expect(await store.put('key', bytes('two'), 'absent', 'record')).toBe('stale');
      expect(await keys(store)).toEqual(['key']);
    },
  },
  {
    name: 'list of an empty store is empty',
    async check(store) {
      expect(await keys(store)).toEqual([]);
      expect(await keys(store, 'a/')).toEqual([]);
    },
  },
  {
    name: 'list answers a key once, however often it was written',
    async check(store) {
      let etag = await put(store, 'd/key', 'state 0');
      for (let state = 1; state < 5; state += 1) etag = await put(store, 'd/key', `state ${state}`, etag);
      expect(await store.put('d/key', bytes('lost'), 'absent')).toBe('stale');
      expect(await store.put('d/lost', bytes('lost'), { matches: etag })).toBe('stale');
      expect(await keys(store)).toEqual(['d/key']);
    },
  },
  {
    name: 'list goes on after 1,000 keys',
    async check(store) {
      const many = Array.from({ length: MORE_THAN_A_PAGE }, (_, index) => `many/${index}`);
      // As many at once as a publisher would.
      for (let start = 0; start < many.length; start += 50) {
        await Promise.all(many.slice(start, start + 50).map((key) => put(store, key, key)));
      }
      await put(store, 'other', 'x');
      expect(await keys(store, 'many/')).toEqual([...many].sort());
    },
  },
  {
    name: `of ${WRITERS} put absent at once exactly one wins, and its bytes stand`,
    async check(store) {
      for (let round = 0; round < 3; round += 1) {
        await expectOneWinner(store, `round/${round}`, 'absent');
      }
    },
  },
  {
    name: `of ${WRITERS} put matches at once exactly one wins, and its bytes stand`,
    async check(store) {
      let etag = await put(store, 'key', 'before');
      for (let round = 0; round < 3; round += 1) {
        etag = await expectOneWinner(store, 'key', { matches: etag });
      }
    },
  },
  {
    name: 'writers that read, add and retry lose no addition',
    async check(store) {
      await put(store, 'count', '0');
      const addTen = async (writer: number): Promise<void> => {
        let added = 0;
        // Each addition of one makes at most three others try again.
        for (let tries = 0; added < 10 && tries < 400; tries += 1) {
          const { text, etag } = await read(store, 'count');
          const next = `${Number(text.split(' ')[0]) + 1} by ${writer}`;
          if ((await store.put('count', bytes(next), { matches: etag })) !== 'stale') added += 1;
        }
      };
      await Promise.all([1, 2, 3, 4].map(addTen));
      expect((await read(store, 'count')).text).toMatch(/^40 by /);
    },
  },
  {
    name: 'writers of different keys do not disturb each other',
    async check(store) {
      const many = Array.from({ length: 60 }, (_, index) => `new/${index % 7}/folder/${index}`);
      const etags = await Promise.all(many.map((key) => put(store, key, key)));
      await Promise.all(many.map((key, index) => put(store, key, `${key} again`, etags[index])));
      for (const key of many) expect((await read(store, key)).text).toBe(`${key} again`);
    },
  },
  {
    name: 'who reads while it is replaced gets one whole state, never less and never none',
    async check(store) {
      const stateOf = (state: number): Uint8Array => new Uint8Array(200_000 + state).fill(state);
      let done = false;
      const written = new Map<string, number>();
      const seen: { readonly etag: string; readonly state: number }[] = [];
      const note = (found: StoredObject): void => {
        const state = found.bytes[0] ?? -1;
        expect(isSame(found.bytes, stateOf(state))).toBe(true);
        seen.push({ etag: found.etag, state });
      };
      const first = await put(store, 'key', stateOf(1));
      written.set(first, 1);
      const writer = async (): Promise<void> => {
        let etag = first;
        for (let state = 2; state <= 40; state += 1) {
          etag = await put(store, 'key', stateOf(state), etag);
          written.set(etag, state);
          // So that readers see a state more than once, also of a store that is as fast as memory.
          await turns(5);
        }
      };
      const reader = async (rhythm: number): Promise<void> => {
        let known: string | undefined;
        let latest = 0;
        for (let last = false; !last;) {
          last = done;
          await turns(rhythm);
          const found = await store.get('key', known);
          if (found === 'unmodified') continue;
          if (found === undefined) throw new Error('The object was absent for a while.');
          note(found);
          // Who saw a state never sees an older one.
          expect(found.bytes[0]).toBeGreaterThanOrEqual(latest);
          latest = found.bytes[0] ?? 0;
          known = found.etag;
        }
        expect(latest).toBe(40);
      };
      await Promise.all([
        writer().finally(() => {
          done = true;
        }),
        ...[1, 2, 3].map(reader),
      ]);
      for (const { etag, state } of seen) expect(written.get(etag)).toBe(state);
    },
  },
];

async function expectOneWinner(
  store: ObjectStore,
  key: string,
  condition: Parameters<ObjectStore['put']>[2],
): Promise<string> {
  const contents = Array.from(
    { length: WRITERS },
    (_, index) => `writer ${index} of ${JSON.stringify([key, condition])}`,
  );
  const outcomes = await Promise.all(contents.map((content) => store.put(key, bytes(content), condition)));
  const winners = outcomes.flatMap((outcome, index) =>
    outcome === 'stale' ? [] : [{ text: contents[index], etag: outcome.etag }],
  );
  expect(winners).toHaveLength(1);
  expect([await read(store, key)]).toEqual(winners);
  return winners[0]?.etag ?? '';
}

/** Lets others run, also when the store answers from memory at once. */
async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** A put that must win; creates unless an ETag to replace is given. */
async function put(
  store: ObjectStore,
  key: string,
  content: string | Uint8Array,
  matches?: string,
): Promise<string> {
  const given = typeof content === 'string' ? bytes(content) : content;
  const outcome = await store.put(key, given, matches === undefined ? 'absent' : { matches });
  if (outcome === 'stale') throw new Error(`The put of ${key} was stale.`);
  return outcome.etag;
}

/** The object, which must be there and whole. */
async function whole(store: ObjectStore, key: string, unless?: string): Promise<StoredObject> {
  const found = await store.get(key, unless);
  if (found === undefined || found === 'unmodified') throw new Error(`${key} was ${found ?? 'absent'}.`);
  return found;
}

async function read(
  store: ObjectStore,
  key: string,
  unless?: string,
): Promise<{ text: string; etag: string }> {
  const found = await whole(store, key, unless);
  return { text: Buffer.from(found.bytes).toString('utf8'), etag: found.etag };
}

/** Sorted, because a list promises no order. */
async function keys(store: ObjectStore, prefix = ''): Promise<string[]> {
  const found: string[] = [];
  for await (const key of store.list(prefix)) found.push(key);
  return found.sort();
}

const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'utf8'));
const isSame = (one: Uint8Array, other: Uint8Array): boolean => Buffer.compare(one, other) === 0;
