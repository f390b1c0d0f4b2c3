import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { sha256 } from '../core/digests.ts';
import { SkillError } from '../core/errors.ts';
import type { Digest } from '../core/ids.ts';
import { MAX_PUBLISHED_FILE_BYTES } from '../core/limits.ts';
import { isSystemError, readRegularFile } from './file-system.ts';
import type { BuiltinIndex } from './index-builtin.ts';
import type { SkillSource } from './source.ts';

/**
 * The skills that come with the product. They change only with a deployment, so serving them asks no store: what a
 * catalog needs is known at start, and bytes are read from the directory when they are asked for.
 */
export async function builtinSource(directory: string): Promise<SkillSource> {
  const { snapshot, files } = (await builtIndex(directory)) ?? (await indexNow(directory));
  const lists = new Map(Object.entries(files));
  const places = new Map<Digest, string>();
  for (const skill of snapshot.skills) {
    for (const file of lists.get(skill.digest) ?? []) {
      places.set(file.digest, path.join(directory, skill.directory, file.path));
    }
  }
  const changed = (digest: Digest) =>
    new SkillError('skill_changed', { detail: `The built-in skills no longer hold ${digest}.` });

  return {
    root: snapshot.root,
    discover: () => Promise.resolve(snapshot),
    files: (skill) => {
      const list = lists.get(skill);
      return list === undefined ? Promise.reject(changed(skill)) : Promise.resolve(list);
    },
    async read(file) {
      const place = places.get(file);
      if (place === undefined) throw changed(file);
      const { bytes } = await readRegularFile(place, { maxBytes: MAX_PUBLISHED_FILE_BYTES });
      if (sha256(bytes) !== file) throw changed(file);
      return bytes;
    },
  };
}

/**
 * The index that bundling a function leaves beside the directory, so that a cold start reads and parses no skill. It is
 * deployed with the code, in one piece, and trusted like code.
 */
async function builtIndex(directory: string): Promise<BuiltinIndex | undefined> {
  try {
    return JSON.parse(await readFile(`${directory}.json`, 'utf8')) as BuiltinIndex;
  } catch (error) {
    // A checkout and the package have none: there the skills may be edited, and a start has the time.
    if (isSystemError(error) && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

async function indexNow(directory: string): Promise<BuiltinIndex> {
  const { indexBuiltin } = await import('./index-builtin.ts');
  return indexBuiltin(directory);
}
