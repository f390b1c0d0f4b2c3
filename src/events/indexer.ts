import type { Logger } from '../log.ts';
import { SkillError } from '../core/errors.ts';
import { parseUploadKey } from '../core/manifest/object-keys.ts';
import { publishUpload } from '../operations/publish-upload.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import { tenantStore } from '../tenancy/tenant-store.ts';

export interface IndexerParts {
  readonly objects: ObjectStore;
  readonly logger: Logger;
  readonly now: () => Date;
}

/**
 * Publishes the upload that an object of the bucket is, and leaves every other object alone. What came of it is recorded
 * for the uploader; a refusal is a result and no failure. Safe to repeat, in any order, at once.
 *
 * @throws whatever is worth another try
 */
export type Index = (key: string) => Promise<void>;

export function indexer(parts: IndexerParts): Index {
  return async (key) => {
    const upload = parseUploadKey(key);
    if (upload === undefined) {
      parts.logger.debug({ key }, 'not an upload');
      return;
    }
    const entry = { tenant: upload.tenant, bundle: upload.bundle, upload: upload.upload };
    try {
      const { result } = await publishUpload(tenantStore(parts.objects, upload.tenant), {
        bundle: upload.bundle,
        upload: upload.upload,
        now: parts.now,
      });
      const told =
        'published' in result
          ? { outcome: result.published.outcome, revision: result.published.revision }
          : { outcome: 'refused', code: result.refused.code };
      parts.logger.info({ ...entry, ...told }, 'upload');
    } catch (error) {
      // Begun by nobody, or so long ago that it is forgotten, or expired since: no later try will find more.
      if (!(error instanceof SkillError) || !['not_found', 'upload_incomplete'].includes(error.code))
        throw error;
      parts.logger.warn({ ...entry, code: error.code }, 'upload');
    }
  };
}
