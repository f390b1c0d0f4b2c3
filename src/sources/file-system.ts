import { constants } from 'node:fs';
import type { Dirent, Stats } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { SkillError } from '../core/errors.ts';
import { comparePaths } from '../core/manifest/plan.ts';

/** Reading folders that others write: no link is followed, and "absent" is told apart from "unreadable". */

export type DirectoryListing = readonly Dirent[] | 'absent' | 'unreadable';

/** Entries in name order, so that every system tells the same story. */
export async function listDirectory(directory: string): Promise<DirectoryListing> {
  try {
    const entries = await readdir(directory, { withFileTypes: true });
    return entries.sort((a, b) => comparePaths(a.name, b.name));
  } catch (error) {
    if (isSystemError(error))
      return error.code === 'ENOENT' || error.code === 'ENOTDIR' ? 'absent' : 'unreadable';
    throw error;
  }
}

export interface ReadFile {
  readonly bytes: Uint8Array;
  /** Of the whole file, also when only its beginning was read. */
  readonly size: number;
  readonly executable: boolean;
  /** Equal for hard links of one file. */
  readonly identity: string;
  /** See `stateOf`; as it was after the last byte was read. */
  readonly state: string;
}

/** Another one once the file was written or replaced. Its clock is coarse: a few milliseconds. */
export function stateOf({ dev, ino, size, mtimeMs, ctimeMs }: Stats): string {
  return [dev, ino, size, mtimeMs, ctimeMs].join(':');
}

/**
 * Reads a regular file, or its first `maxBytes` when `partial`.
 *
 * @throws SkillError symlink_refused, file_too_large, unreadable, invalid_resource_path (not a regular file)
 */
export async function readRegularFile(
  file: string,
  options: { readonly maxBytes: number; readonly partial?: boolean },
): Promise<ReadFile> {
  let handle;
  try {
    // Not blocking, so that a named pipe cannot hold us up.
    handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (isSystemError(error) && error.code === 'ELOOP') {
      throw new SkillError('symlink_refused', { detail: `${file} is a symbolic link.`, cause: error });
    }
    throw unreadable(file, error);
  }
  try {
    const stats = await handle.stat();
    if (!stats.isFile())
      throw new SkillError('invalid_resource_path', { detail: `${file} is not a regular file.` });
    if (options.partial !== true && stats.size > options.maxBytes) {
      throw new SkillError('file_too_large', {
        detail: `${file} has ${stats.size} bytes; the limit is ${options.maxBytes}.`,
      });
    }
    const bytes =
      options.partial === true
        ? await readStart(handle, Math.min(options.maxBytes, stats.size))
        : new Uint8Array(await handle.readFile());
    return {
      bytes,
      state: stateOf(await handle.stat()),
      size: stats.size,
      executable: (stats.mode & 0o100) !== 0,
      identity: `${stats.dev}:${stats.ino}`,
    };
  } catch (error) {
    throw unreadable(file, error);
  } finally {
    await handle.close();
  }
}

async function readStart(handle: Awaited<ReturnType<typeof open>>, length: number): Promise<Uint8Array> {
  const buffer = new Uint8Array(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await handle.read(buffer, filled, length - filled, filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}

function unreadable(file: string, error: unknown): unknown {
  if (!isSystemError(error)) return error;
  return new SkillError('unreadable', { detail: `${file} cannot be read (${error.code}).`, cause: error });
}

export function isSystemError(error: unknown): error is Error & { readonly code: string } {
  return (
    error instanceof Error &&
    'code' in error &&
    typeof error.code === 'string' &&
    !(error instanceof SkillError)
  );
}
