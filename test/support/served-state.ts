import { expect } from 'vitest';
import type { BundleId } from '../../src/core/ids.ts';
import { manifestSchema, revisionSchema } from '../../src/core/manifest/manifest.ts';
import { fileKey, manifestKey, revisionKey, skillFilesKey } from '../../src/core/manifest/object-keys.ts';
import { parseJson } from '../../src/storage/json.ts';
import type { ObjectStore } from '../../src/storage/object-store.ts';

/** Reads what is served now and checks that every single thing that it names is there, whole and of one publisher. */
export async function servedState(
  store: ObjectStore,
  bundle: BundleId,
): Promise<{ revision: number; generation: number; labels: Set<string> } | undefined> {
  const found = await store.get(manifestKey(bundle));
  if (found === undefined || found === 'unmodified') return undefined;
  const manifest = manifestSchema.parse(parseJson(found.bytes));
  const revision = await store.get(revisionKey(bundle, manifest.revision));
  if (revision === undefined || revision === 'unmodified') throw new Error('manifest without its revision');
  expect(revisionSchema.parse(parseJson(revision.bytes)).digest).toBe(manifest.digest);
  const labels = new Set<string>();
  for (const skill of manifest.skills) {
    labels.add(/From (.*)\./.exec(skill.description)?.[1] ?? '');
    expect(await store.get(skillFilesKey(skill.digest))).toBeDefined();
    for (const file of skill.files ?? []) {
      const stored = await store.get(fileKey(file.digest));
      if (stored === undefined || stored === 'unmodified') throw new Error(`lost ${file.path}`);
      expect(stored.bytes.length).toBe(file.size);
    }
  }
  return { revision: manifest.revision, generation: manifest.generation, labels };
}
