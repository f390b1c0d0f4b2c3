import { randomBytes } from 'node:crypto';
import type { Hono } from 'hono';
import type { Logger } from '../log.ts';
import type { Index } from '../events/indexer.ts';
import type { AppEnv } from '../http/route.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import { signedPaths } from '../storage/signed-paths.ts';
import type { Transfers } from '../storage/transfers.ts';
import { BUCKET_DOOR, mountBucketDoor } from './bucket-door.ts';

export interface LocalBucket {
  readonly transfers: Transfers;
  /** Adds the door to the service. */
  readonly mount: (app: Hono<AppEnv>) => void;
  /** Resolves when no arrived upload is in work. */
  readonly idle: () => Promise<void>;
}

/**
 * What S3 does around a bucket, for one that is a directory: signed URLs, and telling the indexer what has arrived. The
 * secret lives as long as the process, so URLs end with it; an upload goes on with a new one.
 */
export function localBucket(parts: {
  readonly objects: ObjectStore;
  readonly index: Index;
  readonly logger: Logger;
  readonly now: () => Date;
}): LocalBucket {
  const { objects, index, logger, now } = parts;
  const paths = signedPaths({ at: BUCKET_DOOR, secret: randomBytes(32), now });
  const underWay = new Set<Promise<void>>();
  const arrived = (key: string): void => {
    const work = index(key)
      .catch((error: unknown) => {
        // Completing the upload tries again.
        logger.error({ err: error }, 'upload failed');
      })
      .finally(() => underWay.delete(work));
    underWay.add(work);
  };
  return {
    transfers: paths,
    mount(app) {
      mountBucketDoor(app, { objects, paths, arrived });
    },
    async idle() {
      await Promise.all(underWay);
    },
  };
}
