import type { S3Client } from '@aws-sdk/client-s3';
import { GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { attachment } from '../core/resources/attachment.ts';
import { hexOf } from '../core/ids.ts';
import { LIFETIME_TAG } from '../core/manifest/lifetimes.ts';
import type { Transfers } from './transfers.ts';

/** Presigned URLs of S3 (Signature Version 4, query form), made without asking S3. */
export function s3Transfers(client: S3Client, options: { readonly bucket: string }): Transfers {
  const Bucket = options.bucket;
  return {
    async signPut(key, { size, sha256, lifetime }, seconds) {
      const headers = {
        'content-type': 'application/octet-stream',
        'x-amz-checksum-sha256': Buffer.from(hexOf(sha256), 'hex').toString('base64'),
        'x-amz-tagging': `${LIFETIME_TAG}=${lifetime}`,
      };
      const command = new PutObjectCommand({
        Bucket,
        Key: key,
        ContentLength: size,
        ContentType: headers['content-type'],
        ChecksumSHA256: headers['x-amz-checksum-sha256'],
        Tagging: headers['x-amz-tagging'],
      });
      // In the query they would be hints that the client could leave out; as signed headers S3 insists on them.
      const { getSignedUrl } = await presigner();
      const url = await getSignedUrl(client, command, {
        expiresIn: seconds,
        unhoistableHeaders: new Set(['x-amz-checksum-sha256', 'x-amz-tagging']),
        signableHeaders: new Set(['host', 'content-length', 'content-type']),
      });
      return { url, headers };
    },

    async signGet(key, filename, seconds) {
      const command = new GetObjectCommand({
        Bucket,
        Key: key,
        ResponseContentType: 'application/octet-stream',
        ResponseContentDisposition: attachment(filename),
        ResponseCacheControl: 'private, no-store',
      });
      const { getSignedUrl } = await presigner();
      return getSignedUrl(client, command, { expiresIn: seconds });
    },
  };
}

/** Loaded when the first URL is asked for: most requests need none. */
const presigner = () => import('@aws-sdk/s3-request-presigner');
