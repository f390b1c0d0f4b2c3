import type { S3Client } from '@aws-sdk/client-s3';
import {
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import { SkillError } from '../core/errors.ts';
import { LIFETIME_TAG } from '../core/manifest/lifetimes.ts';
import type { ObjectStore } from './object-store.ts';

/**
 * A bucket in S3, or in what speaks S3 *and honours conditional writes*: If-None-Match and If-Match on PutObject are
 * what publishing stands on (docs/storage.md names servers that do).
 */
export function s3ObjectStore(client: S3Client, options: { readonly bucket: string }): ObjectStore {
  const Bucket = options.bucket;
  return {
    async get(key, unless) {
      try {
        const command = new GetObjectCommand({
          Bucket,
          Key: key,
          ...(unless === undefined ? {} : { IfNoneMatch: unless }),
        });
        const answer = await client.send(command);
        if (answer.Body === undefined || answer.ETag === undefined)
          throw new Error(`S3 answered ${key} without a body.`);
        return { bytes: await answer.Body.transformToByteArray(), etag: answer.ETag };
      } catch (error) {
        if (isAnswer(error, 304)) return 'unmodified';
        if (isNoSuchKey(error)) return undefined;
        throw unavailable(error);
      }
    },

    async put(key, bytes, condition, lifetime) {
      for (let attempt = 1; ; attempt += 1) {
        try {
          const answer = await client.send(
            new PutObjectCommand({
              Bucket,
              Key: key,
              Body: bytes,
              ContentType: key.endsWith('.json') ? 'application/json' : 'application/octet-stream',
              ...(lifetime === undefined ? {} : { Tagging: `${LIFETIME_TAG}=${lifetime}` }),
              ...(condition === 'absent' ? { IfNoneMatch: '*' } : { IfMatch: condition.matches }),
            }),
          );
          if (answer.ETag === undefined) throw new Error(`S3 stored ${key} without an ETag.`);
          return { etag: answer.ETag };
        } catch (error) {
          // 412: the condition does not hold. 404: If-Match on an object that is not there (S3 User Guide,
          // "Conditional writes").
          if (isAnswer(error, 412)) return 'stale';
          if (condition !== 'absent' && isNoSuchKey(error)) return 'stale';
          // 409: another operation on this key is under way, and nothing is known yet; S3 says to try again. "Stale"
          // would make a caller believe in an object that may never come to be.
          if (!isAnswer(error, 409) || attempt === ATTEMPTS) throw unavailable(error);
        }
      }
    },

    async size(key) {
      try {
        const { ContentLength } = await client.send(new HeadObjectCommand({ Bucket, Key: key }));
        if (ContentLength === undefined) throw new Error(`S3 answered ${key} without a length.`);
        return ContentLength;
      } catch (error) {
        // A HEAD answer has no body, so no code either: this is the one 404 that cannot be told from a missing bucket.
        if (isAnswer(error, 404)) return undefined;
        throw unavailable(error);
      }
    },

    async *list(prefix) {
      let token: string | undefined;
      do {
        const page = await client
          .send(
            new ListObjectsV2Command({
              Bucket,
              Prefix: prefix,
              ...(token === undefined ? {} : { ContinuationToken: token }),
            }),
          )
          .catch((error: unknown) => {
            throw unavailable(error);
          });
        for (const object of page.Contents ?? []) if (object.Key !== undefined) yield object.Key;
        token = page.NextContinuationToken;
      } while (token !== undefined);
    },
  };
}

/** Tries of a write that S3 answers with a conflict. */
const ATTEMPTS = 5;

/** Not every 404: a missing bucket is no absent object. */
function isNoSuchKey(error: unknown): boolean {
  return error instanceof S3ServiceException && error.name === 'NoSuchKey';
}

function isAnswer(error: unknown, status: number): boolean {
  return error instanceof S3ServiceException && error.$metadata.httpStatusCode === status;
}

/** Denied, throttled, unreachable, a missing bucket: none of these means that the object is absent. */
function unavailable(error: unknown): SkillError {
  if (error instanceof SkillError) return error;
  return new SkillError('unavailable', { detail: 'The object store cannot answer now.', cause: error });
}
