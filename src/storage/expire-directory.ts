import { lstat, unlink } from 'node:fs/promises';
import path from 'node:path';
import { LIFETIME_DAYS } from '../core/manifest/lifetimes.ts';
import type { Lifetime } from '../core/manifest/lifetimes.ts';
import { directoryObjectStore } from './directory.ts';
import { namesOf } from './file-names.ts';

const DAY_MILLISECONDS = 24 * 60 * 60 * 1000;

/**
 * Deletes what has outlived its lifetime, as a lifecycle rule does in S3. Such objects are written once and never
 * replaced, so each is one file.
 *
 * @returns how many were deleted
 */
export async function expireDirectory(
  root: string,
  lifetimeOf: (key: string) => Lifetime | undefined,
  now: Date,
): Promise<number> {
  let deleted = 0;
  for await (const key of directoryObjectStore(root).list('')) {
    const lifetime = lifetimeOf(key);
    if (lifetime === undefined) continue;
    const file = path.join(root, ...namesOf(key));
    const { mtimeMs } = await lstat(file);
    if (now.getTime() - mtimeMs < LIFETIME_DAYS[lifetime] * DAY_MILLISECONDS) continue;
    await unlink(file);
    deleted += 1;
  }
  return deleted;
}
