import path from 'node:path';
import type { RootSnapshot } from '../core/catalog/catalog.ts';
import { sha256 } from '../core/digests.ts';
import { SkillError } from '../core/errors.ts';
import { bundleId } from '../core/ids.ts';
import type { Digest } from '../core/ids.ts';
import { MAX_PUBLISHED_FILE_BYTES } from '../core/limits.ts';
import { contentDigest } from '../core/manifest/build.ts';
import type { FileEntry } from '../core/manifest/manifest.ts';
import { skillFilesSchema } from '../core/manifest/manifest.ts';
import { parseJson } from '../storage/json.ts';
import { directoryTree } from './directory-tree.ts';
import { readRegularFile } from './file-system.ts';
import { indexTree } from './index-tree.ts';
import type { SkillSource } from './source.ts';

export const BUILTIN_OWNER = 'builtin';
export const BUILTIN_BUNDLE = 'builtin';

/**
 * The skills that come with the product, read from its package and validated strictly once, at start. They change only
 * with a deployment, so serving them asks no store.
 */
export async function builtinSource(directory: string): Promise<SkillSource> {
  const tree = await directoryTree(directory, 'strict');
  const lists = new Map<Digest, readonly FileEntry[]>();
  const places = new Map<Digest, string>();
  const content = await indexTree(tree, {
    bundle: bundleId(BUILTIN_BUNDLE),
    mode: 'strict',
    sink: {
      file: () => Promise.resolve(),
      skillFiles: (digest, bytes) => {
        lists.set(digest, skillFilesSchema.parse(parseJson(bytes)).files);
        return Promise.resolve();
      },
    },
  });
  for (const skill of content.skills) {
    for (const file of lists.get(skill.digest) ?? []) {
      places.set(file.digest, path.join(directory, skill.directory, file.path));
    }
  }
  const root = { owner: BUILTIN_OWNER, bundle: BUILTIN_BUNDLE };
  const snapshot: RootSnapshot = {
    root,
    revision: 1,
    digest: contentDigest(content),
    mode: 'strict',
    skills: content.skills,
    findings: content.findings,
  };
  const changed = (digest: Digest) =>
    new SkillError('skill_changed', { detail: `The built-in skills no longer hold ${digest}.` });

  return {
    root,
    discover: () => Promise.resolve(snapshot),
    files: (skill) => {
      const files = lists.get(skill);
      return files === undefined ? Promise.reject(changed(skill)) : Promise.resolve(files);
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
