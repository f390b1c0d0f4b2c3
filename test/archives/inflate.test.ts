import { createGunzip, createInflateRaw, deflateRawSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { inflateWithin, unpackedCeiling } from '../../src/archives/inflate.ts';
import { ARCHIVE_LIMITS } from '../../src/core/limits.ts';
import { gzip } from '../support/archive-bytes.ts';

describe('inflating within a bound', () => {
  test('what is just within comes out, one byte more does not', async () => {
    const packed = deflateRawSync('x'.repeat(40_000));
    const inflated = await inflateWithin(createInflateRaw(), packed, 40_000);
    expect(inflated).toEqual({ bytes: new Uint8Array(40_000).fill(0x78), consumed: packed.length });
    expect(await inflateWithin(createInflateRaw(), packed, 39_999)).toBeUndefined();
  });

  test('a bomb is left alone after the bound, not unpacked to its end', async () => {
    const bomb = gzip(new Uint8Array(60_000_000));
    const gunzip = createGunzip();
    expect(await inflateWithin(gunzip, bomb, 1_000_000)).toBeUndefined();
    expect(gunzip.bytesWritten).toBeLessThan(bomb.length / 10);
    expect(gunzip.destroyed).toBe(true);
  });
});

test.each([
  [1_000, 1_048_576, 'maxRatio'],
  [100_000, 20_000_000, 'maxRatio'],
  [1_000_000, 52_428_800, 'maxUnpackedBytes'],
])('%i packed bytes may become %i, by %s', (packed, bytes, limit) => {
  const ceiling = unpackedCeiling(packed, ARCHIVE_LIMITS);
  expect(ceiling.bytes).toBe(bytes);
  expect(ceiling.limit).toContain(limit);
});
