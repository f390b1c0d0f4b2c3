// Another process on the same directory store, for directory.test.ts: node directory-process.mjs ROOT COMMAND [ARG].
// It runs the built store, because Node 20 runs no TypeScript, and tells what it did in lines of JSON.
import { chmodSync, mkdirSync } from 'node:fs';
import { directoryObjectStore } from '../../dist/storage/directory.js';

const [root, command, argument] = process.argv.slice(2);
const store = directoryObjectStore(root);
const tell = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);
const outcomeOf = (work) =>
  work.then(
    (value) => (value === undefined || typeof value === 'string' ? (value ?? 'absent') : 'done'),
    (error) => `${error.code} caused by ${error.cause?.code}`,
  );

const commands = {
  /** Creates and replaces without end, several at once, until it is killed. A state is one byte, many times. */
  async fill() {
    const replace = async (key) => {
      let etag;
      for (let state = 1; ; state = (state % 250) + 1) {
        const condition = etag === undefined ? 'absent' : { matches: etag };
        ({ etag } = await store.put(key, new Uint8Array(100_000).fill(state), condition));
        tell({ key, state, etag });
      }
    };
    const create = async (folder) => {
      for (let number = 0; ; number += 1) {
        const key = `${folder}/${number % 10}/${number}`;
        await store.put(key, new Uint8Array(100_000).fill(7), 'absent');
        tell({ key, state: 7 });
      }
    };
    await Promise.all([replace('r1'), replace('r/2'), create('c1'), create('c/2')]);
  },

  /** Adds 1 to a number as often as it is told, against other processes that do the same. */
  async add() {
    for (let added = 0; added < Number(argument);) {
      const found = await store.get('count');
      const next = Buffer.from(String(Number(Buffer.from(found.bytes).toString()) + 1));
      if ((await store.put('count', next, { matches: found.etag })) !== 'stale') added += 1;
    }
  },

  /** Tries to create as many keys as it is told, against other processes that do the same. */
  async create() {
    const won = [];
    for (let number = 0; number < Number(argument); number += 1) {
      const outcome = await store.put(`race/${number}`, Buffer.from(String(process.pid)), 'absent');
      if (outcome !== 'stale') won.push(number);
    }
    tell({ pid: process.pid, won });
  },

  /** Works where the kernel refuses it. Root may do everything, so it stops being root first. */
  async denied() {
    mkdirSync(root, { mode: 0o700 });
    if (process.getuid() === 0) process.setuid(65_534);
    else chmodSync(root, 0);
    tell({
      put: await outcomeOf(store.put('key', Buffer.from('x'), 'absent')),
      replace: await outcomeOf(store.put('key', Buffer.from('x'), { matches: '"1"' })),
      get: await outcomeOf(store.get('key')),
      list: await outcomeOf(store.list('').next()),
    });
  },

  /** Writes more than the shell's `ulimit -f` lets it: the kernel stops it in the middle, as a full disk does. */
  async large() {
    const small = await store.put('key', Buffer.from('small'), 'absent');
    const large = new Uint8Array(5_000_000).fill(1);
    tell({
      create: await outcomeOf(store.put('large', large, 'absent')),
      replace: await outcomeOf(store.put('key', large, { matches: small.etag })),
      get: await outcomeOf(store.get('large')),
      after: await outcomeOf(store.put('key', Buffer.from('after'), { matches: small.etag })),
    });
  },
};

await commands[command]();
