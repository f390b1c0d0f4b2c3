import type { BundleId } from '../core/ids.ts';
import type { Revision } from '../core/manifest/manifest.ts';
import { revisionSchema } from '../core/manifest/manifest.ts';
import { revisionKey } from '../core/manifest/object-keys.ts';
import { parseJson } from '../storage/json.ts';
import type { ObjectStore } from '../storage/object-store.ts';

/** An immutable revision of a bundle; undefined when there is none of that number. */
export async function readRevision(
  objects: ObjectStore,
  bundle: BundleId,
  revision: number,
): Promise<Revision | undefined> {
  const found = await objects.get(revisionKey(bundle, revision));
  if (found === undefined || found === 'unmodified') return undefined;
  return revisionSchema.parse(parseJson(found.bytes));
}
