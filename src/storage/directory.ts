import { randomUUID } from 'node:crypto';
import type { BigIntStats, Dirent } from 'node:fs';
import { constants } from 'node:fs';
import { link, lstat, mkdir, open, readdir, rename, symlink, unlink } from 'node:fs/promises';
import path from 'node:path';
import { SkillError } from '../core/errors.ts';
import { FOLDER, namesOf, segmentOf } from './file-names.ts';
import type { ObjectStore, StoredObject } from './object-store.ts';
import { sharedSync } from './shared-sync.ts';

/**
 * A bucket in a directory, shared safely by any number of processes. See docs/decisions/directory-store.md.
 *
 * The first state of key `d/k` is the file `d+/k`. Later states are `d+/k~/2`, `d+/k~/3`, …: the highest is current. A
 * state comes to be by one link(2), which the file system lets exactly one writer win, and which shows the whole
 * content or nothing; no state is ever overwritten, so there is no lock to be left behind by a killed process.
 * Superseded states become markers, so that their numbers stay taken. A directory that is missing is an empty bucket.
 */
export function directoryObjectStore(root: string): ObjectStore {
  const fileOf = (key: string): string => path.join(root, ...namesOf(key));
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
      // The outcome stands whatever happens to the file beside it.
      await unlink(temporary).catch(ignoreSystemErrors);
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
      // The write is done. Where links are not allowed (Windows without the privilege) or there is no room for one,
      // the superseded bytes stay, which is harmless.
      ignoreSystemErrors(error);
      await unlink(temporary).catch(ignoreSystemErrors);
    }
  }

  return {
    async get(key, unless) {
      const file = fileOf(key);
      for (let seen = 0; ;) {
        const state = await currentState(file);
        const found = await readState(state.file, state.version, unless);
        if (found !== 'superseded') return found;
        // Superseded between looking and opening: look again. The number only rises, so this ends; a highest state
        // that is only a marker was damaged from outside (an incomplete restore).
        if (state.version === seen) throw unavailable(systemError('ESTALE', state.file));
        seen = state.version;
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

    async size(key) {
      const file = fileOf(key);
      for (let seen = 0; ;) {
        const state = await currentState(file);
        const stats = await statsOf(state.file);
        if (stats === undefined) return undefined;
        if (stats.isFile()) return Number(stats.size);
        // A marker: superseded between looking and asking, as in get.
        if (state.version === 1) return undefined;
        if (state.version === seen) throw unavailable(systemError('ESTALE', state.file));
        seen = state.version;
      }
    },

    async *list(prefix) {
      yield* walk(root, '', prefix);
    },
  };
}

/** Folder of unfinished writes; no key can name it. */
const UNFINISHED = '.unfinished';
const versionsOf = (file: string): string => `${file}~`;

interface State {
  readonly file: string;
  readonly version: number;
}

async function currentState(file: string): Promise<State> {
  const stateOf = (version: number): string => path.join(versionsOf(file), String(version));
  if (!(await isTaken(stateOf(2)))) return { file, version: 1 };
  let version = 2;
  for (const { name } of await namesIn(versionsOf(file))) {
    if (/^\d+$/.test(name)) version = Math.max(version, Number(name));
  }
  // A listing may miss what is created or replaced while it is read. The numbers have no gaps, so this finds the end.
  while (await isTaken(stateOf(version + 1))) version += 1;
  return { file: stateOf(version), version };
}

async function isTaken(file: string): Promise<boolean> {
  try {
    await lstat(file);
    return true;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false;
    throw unavailable(error);
  }
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
    // A marker is a link to nothing: not followed here, and not to be found on Windows, which has no O_NOFOLLOW.
    if (version > 1 && hasCode(error, 'ELOOP', 'ENOENT')) return 'superseded';
    if (hasCode(error, 'ENOENT')) return undefined;
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
  const stats = await statsOf(file);
  return stats?.isFile() === true ? tag(version, stats) : undefined;
}

async function statsOf(file: string): Promise<BigIntStats | undefined> {
  try {
    return await lstat(file, { bigint: true });
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw unavailable(error);
  }
}

/** The number alone would repeat in a directory that was emptied and filled again. */
function tag(version: number, stats: { readonly mtimeNs: bigint; readonly size: bigint }): string {
  return `"${version}-${stats.mtimeNs.toString(36)}-${stats.size.toString(36)}"`;
}

async function* walk(directory: string, base: string, prefix: string): AsyncGenerator<string> {
  for (const entry of await namesIn(directory)) {
    const { name } = entry;
    const folder = name.endsWith(FOLDER);
    const segment = segmentOf(folder ? name.slice(0, -FOLDER.length) : name);
    if (segment === undefined || entry.isDirectory() !== folder) continue;
    const key = base + segment;
    const inside = `${key}/`;
    if (!folder) {
      if (key.startsWith(prefix)) yield key;
    } else if (inside.startsWith(prefix) || prefix.startsWith(inside)) {
      yield* walk(path.join(directory, name), inside, prefix);
    }
  }
}

async function namesIn(directory: string): Promise<Dirent[]> {
  try {
    return await readdir(directory, { withFileTypes: true });
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return [];
    throw unavailable(error);
  }
}

function hasCode(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}

function ignoreSystemErrors(error: unknown): void {
  if (!(error instanceof Error && 'code' in error)) throw error;
}

function systemError(code: string, file: string): Error {
  return Object.assign(new Error(`${code}: ${file}`), { code });
}

function unavailable(error: unknown): unknown {
  if (error instanceof SkillError || !(error instanceof Error && 'code' in error)) return error;
  return new SkillError('unavailable', { detail: 'The object store cannot answer now.', cause: error });
}
