import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Digest } from '../core/ids.ts';
import { isDigest } from '../core/ids.ts';
import type { Transfers } from './transfers.ts';
import * as z from '../core/zod.ts';

/** What a signature speaks for: one method on one key, until a moment, and which bytes or which name. */
const grantSchema = z.discriminatedUnion('method', [
  z.strictObject({
    method: z.literal('PUT'),
    key: z.string(),
    expires: z.number(),
    size: z.number(),
    sha256: z.custom<Digest>((value) => typeof value === 'string' && isDigest(value)),
    lifetime: z.enum(['upload', 'record']),
  }),
  z.strictObject({ method: z.literal('GET'), key: z.string(), expires: z.number(), filename: z.string() }),
]);
export type Grant = z.infer<typeof grantSchema>;

export interface SignedPaths extends Transfers {
  /** The grant of a token that was signed here; undefined when it is not, or is over. */
  read(token: string): Grant | undefined;
}

/**
 * Signed URLs of a deployment whose bucket is a directory: paths of the service itself, below `at`, each with a token
 * that says what it is for, under an HMAC of `secret`.
 */
export function signedPaths(options: {
  readonly at: string;
  readonly secret: Uint8Array;
  readonly now: () => Date;
}): SignedPaths {
  const nowSeconds = () => Math.floor(options.now().getTime() / 1000);
  const signatureOf = (payload: string) => createHmac('sha256', options.secret).update(payload).digest();
  const pathOf = (grant: Grant): string => {
    const payload = Buffer.from(JSON.stringify(grant), 'utf8').toString('base64url');
    return `${options.at}/${payload}.${signatureOf(payload).toString('base64url')}`;
  };
  return {
    signPut(key, content, seconds) {
      const url = pathOf({ method: 'PUT', key, expires: nowSeconds() + seconds, ...content });
      return Promise.resolve({ url, headers: { 'content-type': 'application/octet-stream' } });
    },
    signGet(key, filename, seconds) {
      return Promise.resolve(pathOf({ method: 'GET', key, expires: nowSeconds() + seconds, filename }));
    },
    read(token) {
      const [payload = '', signature = '', ...more] = token.split('.');
      const given = Buffer.from(signature, 'base64url');
      const expected = signatureOf(payload);
      if (more.length > 0 || given.length !== expected.length || !timingSafeEqual(given, expected)) {
        return undefined;
      }
      const grant = grantSchema.parse(JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')));
      return grant.expires > nowSeconds() ? grant : undefined;
    },
  };
}
