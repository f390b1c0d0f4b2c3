import { createHash } from 'node:crypto';
import type { Digest } from './ids.ts';
import { digest } from './ids.ts';

/** SHA-256 of the bytes (text as UTF-8), as `sha256:<64 hex>`. */
export function sha256(data: Uint8Array | string): Digest {
  return digest(`sha256:${createHash('sha256').update(data).digest('hex')}`);
}
