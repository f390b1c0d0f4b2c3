import { spawn } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { directoryObjectStore } from '../../src/storage/directory.ts';
import type { ObjectStore } from '../../src/storage/object-store.ts';
import { ODD_KEYS, objectStoreContract } from './object-store-suite.ts';

let parent = '';
let roots = 0;
beforeAll(async () => {
  parent = await mkdtemp(path.join(os.tmpdir(), 'skillbucket-directory-'));
});
afterAll(async () => {
  await rm(parent, { recursive: true, force: true });
});
/** A directory that is not there yet. */
const newRoot = (): string => path.join(parent, String((roots += 1)));

objectStoreContract('directory', () => directoryObjectStore(newRoot()));
objectStoreContract('three directory stores on one directory, each call by the next', () => {
  const root = newRoot();
  return inTurn([directoryObjectStore(root), directoryObjectStore(root), directoryObjectStore(`${root}/`)]);
});

describe('directory: what is on the disk', () => {
  test('names are lower-case ASCII, so that no file system takes two keys for one', async () => {
    const root = newRoot();
    const store = directoryObjectStore(root);
    for (const key of ODD_KEYS) await store.put(key, bytes(key), 'absent');
    for (const name of await readdir(root, { recursive: true })) {
      expect(name).toMatch(/^[a-z0-9._%+/-]+$/);
      expect(name).not.toMatch(/\.(\/|$)/);
      expect(name).not.toMatch(/(^|\/)(con|aux)\b/);
    }
  });

  test.each(['', '/', 'a/', '/a', 'a//b', 'half-\ud83d', 'x'.repeat(241), 'é'.repeat(41)])(
    '%j is no key',
    async (key) => {
      const store = directoryObjectStore(newRoot());
      await expect(store.get(key)).rejects.toThrow(TypeError);
      await expect(store.put(key, bytes('x'), 'absent')).rejects.toThrow(TypeError);
      expect(await keysOf(store)).toEqual([]);
    },
  );

  test.each(['..', '../../outside', 'a/../../../outside', '.', './a', '..\\outside', '%2e%2e/outside'])(
    '%j stays inside',
    async (key) => {
      const root = path.join(newRoot(), 'inner', 'bucket');
      const store = directoryObjectStore(root);
      await store.put(key, bytes('x'), 'absent');
      expect(await keysOf(store)).toEqual([key]);
      expect(await readdir(path.dirname(path.dirname(root)))).toEqual(['inner']);
      expect(await readdir(path.dirname(root))).toEqual(['bucket']);
    },
  );

  test('only the first and the last state keep bytes, and nothing unfinished stays', async () => {
    const root = newRoot();
    const store = directoryObjectStore(root);
    let etag = etagOf(await store.put('d/key', bytes('state 1'), 'absent'));
    for (let state = 2; state <= 30; state += 1) {
      etag = etagOf(await store.put('d/key', bytes(`state ${state}`), { matches: etag }));
    }
    const states = await readdir(path.join(root, 'd+', 'key~'), { withFileTypes: true });
    expect(states).toHaveLength(29);
    expect(states.filter((entry) => entry.isFile()).map((entry) => entry.name)).toEqual(['30']);
    expect(await readFile(path.join(root, 'd+', 'key~', '30'), 'utf8')).toBe('state 30');
    expect(await readdir(path.join(root, '.unfinished'))).toEqual([]);
  });

  test('what others put into the directory is not listed', async () => {
    const root = newRoot();
    const store = directoryObjectStore(root);
    await store.put('a/key', bytes('x'), 'absent');
    for (const name of ['.DS_Store', 'Thumbs.db', '%zz', 'a b', 'a%2f', 'note~', '+']) {
      await writeFile(path.join(root, name), 'x');
    }
    await mkdir(path.join(root, 'folder'));
    await writeFile(path.join(root, 'folder', 'x'), 'x');
    await writeFile(path.join(root, '.unfinished', 'left-by-a-killed-process'), 'x');
    expect(await keysOf(store)).toEqual(['a/key']);
  });

  test('a directory that was emptied and filled again gives other ETags', async () => {
    const root = newRoot();
    const store = directoryObjectStore(root);
    const before = etagOf(await store.put('key', bytes('same'), 'absent'));
    await rm(root, { recursive: true });
    expect(await store.get('key', before)).toBeUndefined();
    const after = etagOf(await store.put('key', bytes('same'), 'absent'));
    expect(after).not.toBe(before);
    expect(await store.put('key', bytes('new'), { matches: before })).toBe('stale');
  });
});

describe('directory: what cannot be answered is unavailable, and never absent or stale', () => {
  async function expectUnavailable(store: ObjectStore, key = 'key'): Promise<void> {
    const unavailable = expect.objectContaining({ code: 'unavailable' }) as unknown;
    await expect(store.get(key)).rejects.toEqual(unavailable);
    await expect(store.get(key, '"1"')).rejects.toEqual(unavailable);
    await expect(store.put(key, bytes('x'), 'absent')).rejects.toEqual(unavailable);
    await expect(store.put(key, bytes('x'), { matches: '"1"' })).rejects.toEqual(unavailable);
  }

  test('a file in the place of the directory', async () => {
    const root = newRoot();
    await writeFile(root, 'a file');
    await expectUnavailable(directoryObjectStore(root));
    await expect(keysOf(directoryObjectStore(root))).rejects.toMatchObject({ code: 'unavailable' });
    expect(await readFile(root, 'utf8')).toBe('a file');
  });

  test('a file in the place of a folder', async () => {
    const root = newRoot();
    await mkdir(root);
    await writeFile(path.join(root, 'a+'), 'a file');
    await expectUnavailable(directoryObjectStore(root), 'a/key');
  });

  test('a directory that is a link to itself', async () => {
    const root = newRoot();
    await symlink(root, root);
    await expectUnavailable(directoryObjectStore(root));
  });

  test('a state that is a folder or a link', async () => {
    const root = newRoot();
    await mkdir(path.join(root, 'folder'), { recursive: true });
    await symlink('/etc/hostname', path.join(root, 'link'));
    const store = directoryObjectStore(root);
    for (const key of ['folder', 'link']) {
      await expect(store.get(key)).rejects.toMatchObject({ code: 'unavailable' });
      expect(await store.put(key, bytes('x'), 'absent')).toBe('stale');
    }
  });

  test('a last state that an incomplete restore left out', async () => {
    const root = newRoot();
    const store = directoryObjectStore(root);
    let etag = etagOf(await store.put('key', bytes('1'), 'absent'));
    for (const state of ['2', '3', '4'])
      etag = etagOf(await store.put('key', bytes(state), { matches: etag }));
    await rm(path.join(root, 'key~', '4'));
    await expect(store.get('key')).rejects.toMatchObject({ code: 'unavailable' });
    expect(await store.put('key', bytes('x'), { matches: etag })).toBe('stale');
  });

  test('a folder for unfinished writes that cannot be used changes nothing', async () => {
    const root = newRoot();
    const store = directoryObjectStore(root);
    const etag = etagOf(await store.put('key', bytes('one'), 'absent'));
    await rename(path.join(root, '.unfinished'), path.join(root, '.elsewhere'));
    await writeFile(path.join(root, '.unfinished'), '');
    await expect(store.put('key', bytes('two'), { matches: etag })).rejects.toMatchObject({
      code: 'unavailable',
    });
    expect(await textOf(store, 'key')).toBe('one');
  });
});

describe('directory: several processes', () => {
  const script = fileURLToPath(new URL('directory-process.mjs', import.meta.url));
  beforeAll(() => {
    const built = fileURLToPath(new URL('../../dist/.built', import.meta.url));
    const sources = ['directory.ts', 'file-names.ts', 'shared-sync.ts'].map((name) =>
      fileURLToPath(new URL(`../../src/storage/${name}`, import.meta.url)),
    );
    const isOld = (source: string): boolean => statSync(source).mtimeMs > statSync(built).mtimeMs;
    if (!existsSync(built) || sources.some(isOld)) throw new Error('Run `npm run build` first.');
  });

  const start = (args: readonly string[], shellLimit?: string) => {
    const words = [process.execPath, script, ...args];
    const child =
      shellLimit === undefined
        ? spawn(words[0] ?? '', words.slice(1))
        : spawn('/bin/bash', ['-c', `${shellLimit} && exec "$@"`, 'bash', ...words]);
    let errors = '';
    child.stderr.on('data', (data: Buffer) => (errors += data.toString()));
    return { child, errors: () => errors };
  };

  /** Runs to the end; answers what was told. */
  async function run(args: readonly string[], shellLimit?: string): Promise<Record<string, unknown>[]> {
    const { child, errors } = start(args, shellLimit);
    let told = '';
    child.stdout.on('data', (data: Buffer) => (told += data.toString()));
    const code = await new Promise((resolve) => child.once('close', resolve));
    if (code !== 0) throw new Error(`A process ended with ${String(code)}: ${errors()}`);
    return lines(told);
  }

  test('processes that add to one number lose no addition', async () => {
    const root = newRoot();
    const store = directoryObjectStore(root);
    await store.put('count', bytes('0'), 'absent');
    await Promise.all(Array.from({ length: 4 }, () => run([root, 'add', '25'])));
    expect(await textOf(store, 'count')).toBe('100');
  });

  test('of processes that create the same key exactly one wins, and its bytes stand', async () => {
    const root = newRoot();
    const store = directoryObjectStore(root);
    const told = (await Promise.all(Array.from({ length: 4 }, () => run([root, 'create', '60'])))).flat();
    const winners = told.flatMap(({ pid, won }) => (won as number[]).map((number) => ({ number, pid })));
    winners.sort((one, other) => one.number - other.number);
    expect(winners.map(({ number }) => number)).toEqual(Array.from({ length: 60 }, (_, number) => number));
    for (const { number, pid } of winners) {
      expect(await textOf(store, `race/${number}`)).toBe(String(pid));
    }
  });

  // Killed after that many writes were told, at whatever point the others then are.
  test.each([1, 7, 40, 90, 150])(
    'killed after %i writes, it leaves each key whole or absent',
    async (kill) => {
      const root = newRoot();
      const { child, errors } = start([root, 'fill']);
      let told = '';
      let newlines = 0;
      child.stdout.on('data', (data: Buffer) => {
        told += data.toString();
        newlines += data.toString().split('\n').length - 1;
        if (newlines >= kill) child.kill('SIGKILL');
      });
      const signal = await new Promise((resolve) => {
        child.once('close', (_, by) => {
          resolve(by);
        });
      });
      expect({ signal, errors: errors() }).toEqual({ signal: 'SIGKILL', errors: '' });

      const store = directoryObjectStore(root);
      const there = await keysOf(store);
      for (const key of there) {
        const found = await store.get(key);
        if (found === undefined || found === 'unmodified') throw new Error(`${key} is listed and absent.`);
        expect(found.bytes.length).toBe(100_000);
        expect(found.bytes.every((byte) => byte === found.bytes[0])).toBe(true);
        // Nothing is in the way of those who come later.
        expect(await store.put(key, bytes('later'), 'absent')).toBe('stale');
        expect(await store.put(key, bytes('later'), { matches: found.etag })).not.toBe('stale');
        expect(await textOf(store, key)).toBe('later');
      }
      // What was told as written is there. The last line may have been cut by the kill.
      const whole = lines(told.slice(0, told.lastIndexOf('\n') + 1));
      expect(whole.length).toBeGreaterThanOrEqual(kill);
      for (const { key } of whole) expect(there).toContain(key);
      for (const key of ['c1/0/next', 'new/folder/key']) {
        expect(await store.put(key, bytes('later'), 'absent')).not.toBe('stale');
      }
    },
  );

  test('killed, it leaves the last told state or a later one', async () => {
    const root = newRoot();
    const { child } = start([root, 'fill']);
    let told = '';
    child.stdout.on('data', (data: Buffer) => {
      told += data.toString();
      if (told.split('"r1"').length > 20) child.kill('SIGKILL');
    });
    await new Promise((resolve) => child.once('close', resolve));
    const states = lines(told.slice(0, told.lastIndexOf('\n') + 1)).filter(({ key }) => key === 'r1');
    const found = await directoryObjectStore(root).get('r1');
    if (found === undefined || found === 'unmodified') throw new Error('r1 is absent.');
    const last = states.at(-1);
    const state = found.bytes[0] ?? 0;
    expect(state).toBeGreaterThanOrEqual(Number(last?.['state']));
    if (state === last?.['state']) expect(found.etag).toBe(last['etag']);
  });

  test('without permission, everything is unavailable', async () => {
    const denied = 'unavailable caused by EACCES';
    expect(await run([newRoot(), 'denied'])).toEqual([
      { put: denied, replace: denied, get: denied, list: denied },
    ]);
  });

  test('a write that the kernel stops half-way is unavailable and leaves nothing', async () => {
    const root = newRoot();
    const refused = 'unavailable caused by EFBIG';
    expect(await run([root, 'large'], 'ulimit -f 1024')).toEqual([
      { create: refused, replace: refused, get: 'absent', after: 'done' },
    ]);
    expect(await keysOf(directoryObjectStore(root))).toEqual(['key']);
    expect(await textOf(directoryObjectStore(root), 'key')).toBe('after');
    expect(await readdir(path.join(root, '.unfinished'))).toEqual([]);
  });
});

/** Every call goes to the next of the stores, so that nothing can rest on one store's memory. */
function inTurn(stores: readonly ObjectStore[]): ObjectStore {
  let calls = 0;
  const next = (): ObjectStore => {
    calls += 1;
    const store = stores[calls % stores.length];
    if (store === undefined) throw new Error('No stores.');
    return store;
  };
  return {
    get: (key, unless) => next().get(key, unless),
    put: (key, given, condition) => next().put(key, given, condition),
    size: (key) => next().size(key),
    list: (prefix) => next().list(prefix),
  };
}

async function keysOf(store: ObjectStore): Promise<string[]> {
  const keys: string[] = [];
  for await (const key of store.list('')) keys.push(key);
  return keys.sort();
}

async function textOf(store: ObjectStore, key: string): Promise<string> {
  const found = await store.get(key);
  if (found === undefined || found === 'unmodified') throw new Error(`${key} is absent.`);
  return Buffer.from(found.bytes).toString('utf8');
}

function etagOf(outcome: { readonly etag: string } | 'stale'): string {
  if (outcome === 'stale') throw new Error('The put was stale.');
  return outcome.etag;
}

const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'utf8'));
const lines = (text: string): Record<string, unknown>[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
