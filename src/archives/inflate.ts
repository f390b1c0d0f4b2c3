import type { Gunzip, InflateRaw } from 'node:zlib';
import { ARCHIVE_RATIO_FREE_BYTES, type ArchiveLimits } from '../core/limits.ts';

/** How many bytes an archive may unpack to, and which limit says so. */
export interface Ceiling {
  readonly bytes: number;
  readonly limit: string;
}

export function unpackedCeiling(packedBytes: number, limits: ArchiveLimits): Ceiling {
  const byRatio = Math.max(ARCHIVE_RATIO_FREE_BYTES, Math.floor(packedBytes * limits.maxRatio));
  return byRatio < limits.maxUnpackedBytes
    ? { bytes: byRatio, limit: `maxRatio ${limits.maxRatio} of ${packedBytes} packed bytes` }
    : { bytes: limits.maxUnpackedBytes, limit: 'maxUnpackedBytes' };
}

export interface Inflated {
  readonly bytes: Uint8Array;
  /** How much of the input was used; less than all of it when more follows the compressed data. */
  readonly consumed: number;
}

/**
 * Runs `input` through `inflater`, holding only what really comes out; undefined as soon as that is more than
 * `maxBytes`. Nothing is allocated by a declared size.
 *
 * @throws Error of zlib, when the data are damaged or end early
 */
export async function inflateWithin(
  inflater: Gunzip | InflateRaw,
  input: Uint8Array,
  maxBytes: number,
): Promise<Inflated | undefined> {
  inflater.end(input);
  const chunks: Uint8Array[] = [];
  let total = 0;
  for await (const chunk of inflater as AsyncIterable<Uint8Array>) {
    total += chunk.length;
    if (total > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return { bytes: joinBytes(chunks), consumed: inflater.bytesWritten };
}

/** One chunk stays the view that it is; several are copied together. */
export function joinBytes(chunks: readonly Uint8Array[]): Uint8Array {
  const [only] = chunks;
  if (only !== undefined && chunks.length === 1) {
    return new Uint8Array(only.buffer, only.byteOffset, only.byteLength);
  }
  const joined = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    joined.set(chunk, at);
    at += chunk.length;
  }
  return joined;
}
