import type { Hono } from 'hono';
import { sha256 } from '../core/digests.ts';
import { SkillError } from '../core/errors.ts';
import { readBody } from '../http/body.ts';
import { sendBytes, sendNothing } from '../http/respond.ts';
import type { AppContext, AppEnv } from '../http/route.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import { mustGet } from '../storage/object-store.ts';
import type { Grant, SignedPaths } from '../storage/signed-paths.ts';

/** Where signed paths of the embedded deployment lead. */
export const BUCKET_DOOR = '/bucket';

/**
 * The embedded bucket's own door, for what S3 does with presigned URLs: takes and gives single objects to whoever holds
 * a signed path, and nothing else.
 *
 * @param arrived told of every object that was put, as S3 tells by an event
 */
export function mountBucketDoor(
  app: Hono<AppEnv>,
  parts: {
    readonly objects: ObjectStore;
    readonly paths: SignedPaths;
    readonly arrived: (key: string) => void;
  },
): void {
  const route = `${BUCKET_DOOR}/:token`;
  const grantOf = <Method extends Grant['method']>(
    context: AppContext,
    method: Method,
  ): Extract<Grant, { method: Method }> => {
    context.set('route', route);
    const grant = parts.paths.read(context.req.param('token') ?? '');
    if (grant?.method !== method) {
      throw new SkillError('forbidden', { detail: 'The signed URL is not valid for this, or has expired.' });
    }
    return grant as Extract<Grant, { method: Method }>;
  };

  app.put(route, async (context) => {
    const { key, size, sha256: digest, lifetime } = grantOf(context, 'PUT');
    const bytes = await readBody(context, size);
    if (bytes.length !== size || sha256(bytes) !== digest) {
      throw new SkillError('upload_mismatch', {
        detail: `This URL takes ${size} bytes with the digest ${digest}; ${bytes.length} came with ${sha256(bytes)}.`,
      });
    }
    // What is there already has the same key, so the same grant and the same bytes.
    await parts.objects.put(key, bytes, 'absent', lifetime);
    parts.arrived(key);
    return sendNothing(context);
  });

  app.get(route, async (context) => {
    const { key, filename } = grantOf(context, 'GET');
    const { bytes } = await mustGet(parts.objects, key);
    return sendBytes(context, { bytes, digest: sha256(bytes), filename });
  });
}
