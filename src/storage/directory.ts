import { randomUUID } from 'node:crypto';
import type { Dirent } from 'node:fs';
import { constants } from 'node:fs';
import { link, lstat, mkdir, open, readdir, rename, symlink, unlink } from 'node:fs/promises';
import path from 'node:path';
import { SkillError } from '../core/errors.ts';
import { encodeUtf8 } from '../core/format/utf8.ts';
import type { ObjectStore, StoredObject } from './object-store.ts';

/**
 * A bucket in a directory, shared safely by any number of processes. See docs/decisions/directory-store.md.
 *
 * The first state of key `k` is the file `k`. Later states are `k~/2`, `k~/3`, …: the highest number is current. A
 * state comes to be by one link(2), which the file system lets exactly one writer win, and which shows the whole
 * content or nothing; no state is ever overwritten, so there is no lock to be left behind by a killed process.
 * Superseded states become markers, so that their numbers stay taken.
 */
export function directoryObjectStore(root: string): ObjectStore {
  const fileOf = (key: string): string => path.join(root, ...segments(key));
  const unfinished = path.join(root, UNFINISHED);
  const syncDirectory = sharedSync();

  /** Writes beside, makes it durable, then links it into place: the one step that can be seen. */
  async function create(
    file: string,
    bytes: Uint8Array,
    version: number,
  ): Promise<{ etag: string } | 'stale'> {
    const temporary = path.join(unfinished, randomUUID());
    try {
      const etag = await writeDurably(temporary, bytes, version);
      if (!(await linkNew(temporary, file))) return 'stale';
      await syncDirectory(path.dirname(file));
      return { etag };
    } catch (error) {
      throw unavailable(error);
    } finally {
      await unlink(temporary).catch(ignoreCodes('ENOENT'));
    }
  }

  async function writeDurably(temporary: string, bytes: Uint8Array, version: number): Promise<string> {
    const handle = await inDirectory(temporary, () => open(temporary, 'wx', 0o600));
    try {
      await handle.writeFile(bytes);
      await handle.sync();
      return tag(version, await handle.stat({ bigint: true }));
    } finally {
      await handle.close();
    }
  }

  async function linkNew(from: string, to: string): Promise<boolean> {
    try {
      await inDirectory(to, () => link(from, to));
      return true;
    } catch (error) {
      if (hasCode(error, 'EEXIST')) return false;
      throw error;
    }
  }

  /** Does the work; where its directory is missing, makes it and does the work again. */
  async function inDirectory<Result>(file: string, work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      if (!hasCode(error, 'ENOENT')) throw error;
      await mkdir(path.dirname(file), { recursive: true });
      // A directory's own entry is in its parent, which must be durable before what is inside can be.
      for (let at = path.dirname(file); at.length > root.length; at = path.dirname(at)) {
        await syncDirectory(path.dirname(at));
      }
      return await work();
    }
  }

  /** Frees a superseded state's bytes and keeps its number taken. Only tidiness: readers see the higher number. */
  async function retire(file: string): Promise<void> {
    const temporary = path.join(unfinished, randomUUID());
    try {
      await symlink('superseded', temporary);
      await rename(temporary, file);
    } catch (error) {
      // Where links are not allowed (Windows without the privilege) the bytes stay, which is harmless.
      if (!hasCode(error, 'EPERM', 'EACCES', 'ENOSPC')) throw unavailable(error);
    }
  }

  return {
    async get(key, unless) {
      const file = fileOf(key);
      for (;;) {
        const state = await currentState(file);
        const found = await readState(state.file, state.version, unless);
        // Superseded between looking and opening: look again. The number only rises, so this ends.
        if (found !== 'superseded') return found;
      }
    },

    async put(key, bytes, condition) {
      const file = fileOf(key);
      if (condition === 'absent') {
        // The first state's name stays taken whatever comes after it.
        return (await etagOf(file, 1)) === undefined ? create(file, bytes, 1) : 'stale';
      }
      const state = await currentState(file);
      if ((await etagOf(state.file, state.version)) !== condition.matches) return 'stale';
      const next = state.version + 1;
      const outcome = await create(path.join(versionsOf(file), String(next)), bytes, next);
      if (outcome !== 'stale' && state.version > 1) await retire(state.file);
      return outcome;
    },

    async *list(prefix) {
      yield* walk(root, '', prefix);
    },
  };
}

/** Folder of unfinished writes; no key can name it. */
const UNFINISHED = '.unfinished';
const versionsOf = (file: string): string => `${file}~`;

/** Key segments become file names; what a file system could read otherwise is encoded. */
function segments(key: string): string[] {
  const parts = key.split('/');
  if (key === '' || parts.some((part) => part === ''))
    throw new TypeError(`Not an object key: ${JSON.stringify(key)}`);
  return parts.map(encodeSegment);
}

function encodeSegment(segment: string): string {
  const encoded = segment.replaceAll(/[^A-Za-z0-9._-]/g, (character) =>
    [...encodeUtf8(character)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''),
  );
  return /^\.+$/.test(encoded) || encoded.startsWith('.') ? `%2e${encoded.slice(1)}` : encoded;
}

function decodeSegment(name: string): string {
  return decodeURIComponent(name);
}

interface State {
  readonly file: string;
  readonly version: number;
}

async function currentState(file: string): Promise<State> {
  const names = await namesIn(versionsOf(file));
  const version = Math.max(1, ...names.map((entry) => Number(entry.name)).filter(Number.isInteger));
  return version === 1 ? { file, version } : { file: path.join(versionsOf(file), String(version)), version };
}

async function readState(
  file: string,
  version: number,
  unless: string | undefined,
): Promise<StoredObject | 'unmodified' | 'superseded' | undefined> {
  let handle;
  try {
    handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return undefined;
    if (hasCode(error, 'ELOOP')) return 'superseded';
    throw unavailable(error);
  }
  try {
    const etag = tag(version, await handle.stat({ bigint: true }));
    if (etag === unless) return 'unmodified';
    return { bytes: await handle.readFile(), etag };
  } catch (error) {
    throw unavailable(error);
  } finally {
    await handle.close();
  }
}

async function etagOf(file: string, version: number): Promise<string | undefined> {
  try {
    const stats = await lstat(file, { bigint: true });
    return stats.isFile() ? tag(version, stats) : undefined;
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return undefined;
    throw unavailable(error);
  }
}

/** The number alone would repeat in a directory that was emptied and filled again. */
function tag(version: number, stats: { readonly mtimeNs: bigint; readonly size: bigint }): string {
  return `"${version}-${stats.mtimeNs.toString(36)}-${stats.size.toString(36)}"`;
}

/** Makes directories durable; callers that come while one is being synced share the next sync. */
function sharedSync(): (directory: string) => Promise<void> {
  const running = new Map<string, Promise<void>>();
  const waiting = new Map<string, Promise<void>>();
  return (directory) => {
    const current = running.get(directory);
    if (current === undefined) {
      const run = syncOnce(directory).finally(() => running.delete(directory));
      running.set(directory, run);
      return run;
    }
    const next = waiting.get(directory);
    if (next !== undefined) return next;
    // The running sync may have begun before this caller's change; only one that begins after it counts.
    const later = current
      .catch(() => undefined)
      .then(() => {
        waiting.delete(directory);
        const run = syncOnce(directory).finally(() => running.delete(directory));
        running.set(directory, run);
        return run;
      });
    waiting.set(directory, later);
    return later;
  };
}

async function syncOnce(directory: string): Promise<void> {
  // Windows cannot open a directory to sync it.
  if (process.platform === 'win32') return;
  const handle = await open(directory, constants.O_RDONLY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function* walk(directory: string, base: string, prefix: string): AsyncGenerator<string> {
  const entries = await namesIn(directory);
  for (const entry of entries) {
    if (entry.name === UNFINISHED || entry.name.endsWith('~')) continue;
    const key = base + decodeSegment(entry.name);
    if (entry.isDirectory()) {
      const inside = `${key}/`;
      if (inside.startsWith(prefix) || prefix.startsWith(inside)) {
        yield* walk(path.join(directory, entry.name), inside, prefix);
      }
    } else if (key.startsWith(prefix)) {
      yield key;
    }
  }
}

async function namesIn(directory: string): Promise<Dirent[]> {
  try {
    return await readdir(directory, { withFileTypes: true });
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return [];
    throw unavailable(error);
  }
}

function hasCode(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}

function ignoreCodes(...codes: string[]): (error: unknown) => void {
  return (error) => {
    if (!hasCode(error, ...codes)) throw unavailable(error);
  };
}

function unavailable(error: unknown): unknown {
  if (error instanceof SkillError || !(error instanceof Error && 'code' in error)) return error;
  return new SkillError('unavailable', { detail: 'The object store cannot answer now.', cause: error });
}
