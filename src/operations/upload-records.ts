import type { BundleId, UploadId } from '../core/ids.ts';
import { uploadBegunKey, uploadEndedKey } from '../core/manifest/object-keys.ts';
import type { UploadBegun, UploadEnded } from '../core/manifest/upload-record.ts';
import { uploadBegunSchema, uploadEndedSchema } from '../core/manifest/upload-record.ts';
import { parseJson } from '../storage/json.ts';
import type { ObjectStore } from '../storage/object-store.ts';

/** What was declared; undefined for an upload that was never begun, or is forgotten. */
export async function readUploadBegun(
  objects: ObjectStore,
  bundle: BundleId,
  upload: UploadId,
): Promise<UploadBegun | undefined> {
  const found = await objects.get(uploadBegunKey(bundle, upload));
  if (found === undefined || found === 'unmodified') return undefined;
  return uploadBegunSchema.parse(parseJson(found.bytes));
}

/** What came of it; undefined while nothing has. */
export async function readUploadEnded(
  objects: ObjectStore,
  bundle: BundleId,
  upload: UploadId,
): Promise<UploadEnded | undefined> {
  const found = await objects.get(uploadEndedKey(bundle, upload));
  if (found === undefined || found === 'unmodified') return undefined;
  return uploadEndedSchema.parse(parseJson(found.bytes));
}
