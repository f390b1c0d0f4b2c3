import { describe, expect, test } from 'vitest';
import { readArchive } from '../../src/archives/read-archive.ts';
import { ARCHIVE_LIMITS } from '../../src/core/limits.ts';
import { gnuLongName, gzip, pax, rawTar, tarGzOf, type TarSpec } from '../support/archive-bytes.ts';
import { expectRefusal, textsOf } from './reading.ts';

const FINE: TarSpec = { name: 'fine.md', data: 'fine' };
const LONG = `demo/${'d'.repeat(120)}/${'é'.repeat(100)}.md`;
const packed = (...entries: readonly TarSpec[]) => gzip(rawTar(entries));
/** A size field in the form for large numbers (GNU base-256). */
const base256 = (first: number, last: number) => Uint8Array.from([first, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last]);

describe('tars that are read', () => {
  const cases: readonly [string, readonly TarSpec[], Record<string, string>][] = [
    [
      'a long path by pax',
      [pax({ path: LONG }), { name: 'short', data: 'x' }, FINE],
      { [LONG]: 'x', 'fine.md': 'fine' },
    ],
    [
      'a long path by GNU',
      [gnuLongName(LONG), { name: 'short', data: 'x' }, FINE],
      { [LONG]: 'x', 'fine.md': 'fine' },
    ],
    [
      'a size by pax',
      [pax({ size: '3' }), { name: 'a', data: 'abc', size: 0 }, FINE],
      { a: 'abc', 'fine.md': 'fine' },
    ],
    ['a size in base 256', [{ name: 'a', data: 'abc', size: base256(0x80, 3) }], { a: 'abc' }],
    ['the comment of `git archive`', [pax({ comment: 'f00' }, 'g'), FINE], { 'fine.md': 'fine' }],
    ['GNU magic', [{ ...FINE, magic: 'ustar  ' }], { 'fine.md': 'fine' }],
    [
      'an old directory, without a type',
      [
        { name: 'd/', type: '0' },
        { name: 'd/a', type: '\u0000' },
      ],
      { 'd/a': '' },
    ],
    [
      'contents that are whole blocks',
      [{ name: 'a', data: 'x'.repeat(1024) }, FINE],
      { a: 'x'.repeat(1024), 'fine.md': 'fine' },
    ],
  ];
  test.each(cases)('%s', async (_, entries, texts) => {
    expect(await textsOf(packed(...entries))).toEqual(texts);
  });

  test.each([0, 1, 2, 20])('%i blocks at the end', async (endBlocks) => {
    expect(await textsOf(gzip(rawTar([FINE], endBlocks)))).toEqual({ 'fine.md': 'fine' });
  });

  test('several gzip members, and zeros that fill up the last block', async () => {
    const tar = rawTar([FINE]);
    const members = [gzip(tar.subarray(0, 700)), gzip(tar.subarray(700)), new Uint8Array(100)];
    expect(await textsOf(Buffer.concat(members))).toEqual({ 'fine.md': 'fine' });
  });

  test.each([
    [0o755, 0o755],
    [0o644, 0o644],
    [0o600, 0o644],
    [0o100, 0o755],
    [0o011, 0o644],
    [0o6777, 0o755],
  ])('mode %i gives mode %i', async (mode, expected) => {
    const files = await readArchive(packed({ name: 'a', mode }), ARCHIVE_LIMITS);
    expect(files.map((file) => file.mode)).toEqual([expected]);
  });
});

describe('tar entries that are not allowed', () => {
  const cases: readonly [string, readonly TarSpec[], string][] = [
    ['a symbolic link', [{ name: 'bad', type: '2', linkname: '/etc/passwd' }], 'symlink'],
    ['a symbolic link inside the tar', [{ name: 'bad', type: '2', linkname: 'fine.md' }], 'symlink'],
    ['a hard link', [{ name: 'bad', type: '1', linkname: 'fine.md' }], 'link'],
    ['a character device', [{ name: 'bad', type: '3' }], 'character-device'],
    ['a block device', [{ name: 'bad', type: '4' }], 'block-device'],
    ['a FIFO', [{ name: 'bad', type: '6' }], 'fifo'],
    ['a contiguous file', [{ name: 'bad', type: '7' }], 'contiguous-file'],
    ['a GNU sparse file', [{ name: 'bad', type: 'S', magic: 'ustar  ' }], 'unknown'],
    [
      'a pax sparse file',
      [pax({ 'GNU.sparse.major': '1', 'GNU.sparse.name': 'x' }), { name: 'bad' }],
      'sparse',
    ],
    ['a part of several volumes', [{ name: 'bad', type: 'M', magic: 'ustar  ' }], 'unknown'],
    ['a type that nobody knows', [{ name: 'bad', type: 'Z' }], 'unknown'],
    ['a type below those there are', [{ name: 'bad', type: '!' }], 'unknown'],
    ['a traversal by pax', [pax({ path: '../bad' }), { name: 'harmless' }], 'leads out'],
    [
      'a traversal by pax for all',
      [pax({ path: '../bad' }, 'g'), pax({ mtime: '1' }), { name: 'harmless' }],
      'leads out',
    ],
    ['a traversal by GNU', [gnuLongName('../bad'), { name: 'harmless' }], 'leads out'],
    ['a NUL by pax', [pax({ path: 'bad\u0000.md' }), { name: 'harmless' }], 'control character'],
    ['a backslash, which a tar takes for a letter', [{ name: '..\\bad' }], 'backslash'],
    ['a name that is no UTF-8', [{ name: Buffer.from('bad\u00e9', 'latin1') }], 'not valid UTF-8'],
    [
      'a name by pax that is no UTF-8',
      [pax({ path: Buffer.from('bad\u00e9', 'latin1') }), { name: 'a' }],
      'not valid UTF-8',
    ],
    ['a file of a name that ends in `/`', [{ name: 'bad/', data: 'x' }], 'empty or `.` segment'],
    [
      'two long names that the header cuts to the same',
      [pax({ path: LONG }), FINE, gnuLongName(LONG), FINE],
      'twice',
    ],
  ];
  test.each(cases)('%s', async (_, entries, problem) => {
    const name = problem === 'twice' ? LONG.slice(0, 70) : 'bad';
    await expectRefusal(packed(FINE, ...entries), 'archive_unsafe', ['Entry "', name, problem]);
  });

  test('a path by pax that is longer than the limit', async () => {
    const words = ['"aaa', '513 bytes', '512', 'maxPathBytes'];
    await expectRefusal(packed(pax({ path: 'a'.repeat(513) }), { name: 'a' }), 'archive_too_large', words);
    await expectRefusal(packed(gnuLongName('a'.repeat(513)), { name: 'a' }), 'archive_too_large', words);
  });
});

describe('tars that cannot be trusted', () => {
  const cases: readonly [string, readonly TarSpec[]][] = [
    ['a wrong checksum', [{ name: 'bad', checksum: 1 }]],
    ['no magic', [{ name: 'bad', magic: 'nothing' }]],
    ['a size that is no number', [{ name: 'bad', data: 'abc', size: Buffer.from('zzzzzzzzzzz') }]],
    ['a size larger than the tar', [{ name: 'bad', data: 'abc', size: 100_000 }]],
    ['a size larger than the world', [{ name: 'bad', data: 'abc', size: base256(0x80, 0).fill(0xff, 1) }]],
    ['a negative size', [{ name: 'bad', data: 'abc', size: base256(0xff, 0) }]],
    ['a size in a damaged base 256', [{ name: 'bad', data: 'abc', size: base256(0x81, 3) }]],
    ['a directory of a damaged size', [{ name: 'bad/', type: '5', size: base256(0x81, 3) }]],
    ['a pax header of a damaged size', [{ ...pax({ path: 'bad' }), size: base256(0x81, 3) }, FINE]],
    ['a pax header of a huge size', [{ ...pax({ path: 'bad' }), size: 2 ** 32 }, FINE]],
    ['a GNU name of a huge size', [{ ...gnuLongName('bad'), size: 2 ** 32 }, FINE]],
    ['a pax size that is huge', [pax({ size: '99999999999999999999' }), { name: 'bad', data: 'abc' }]],
    ['a pax size larger than the tar', [pax({ size: '100000' }), { name: 'bad', data: 'abc' }]],
    ['a pax size that is negative', [pax({ size: '-1' }), { name: 'bad', data: 'abc' }]],
    ['a pax size that is no number', [pax({ size: 'NaN' }), { name: 'bad', data: 'abc' }]],
    ['a pax size that is infinite', [pax({ size: 'Infinity' }), { name: 'bad', data: 'abc' }]],
  ];
  test.each(cases)('%s', async (_, entries) => {
    await expectRefusal(packed({ name: 'first.md' }, ...entries), 'archive_invalid', []);
  });

  test('the refusal names the last entry that could be read', async () => {
    await expectRefusal(packed(FINE, { name: 'bad', checksum: 1 }), 'archive_invalid', ['"fine.md"']);
    await expectRefusal(packed(FINE, { name: 'bad', data: 'abc', size: 9_999 }), 'archive_invalid', [
      '"bad"',
    ]);
  });

  test('a tar that ends within a file', async () => {
    const tar = rawTar([FINE, { name: 'cut.md', data: 'x'.repeat(2_000) }]);
    for (const length of [1_024 + 512, 1_024 + 512 + 100, 1_024 + 512 + 1_024]) {
      await expectRefusal(gzip(tar.subarray(0, length)), 'archive_invalid', ['"cut.md"']);
    }
  });

  test('a gzip with a wrong check value', async () => {
    const archive = tarGzOf({ a: 'a' });
    const at = archive.length - 6;
    archive[at] = (archive[at] ?? 0) ^ 1;
    await expectRefusal(archive, 'archive_invalid', ['gzip']);
  });

  const bombs: readonly [string, () => Uint8Array][] = [
    ['zeros after the end', () => Buffer.concat([rawTar([FINE]), Buffer.alloc(60_000_000)])],
    [
      'pax headers',
      () => rawTar([...Array.from({ length: 20 }, () => pax({ comment: 'x'.repeat(3_000_000) })), FINE]),
    ],
    ['a file', () => rawTar([{ name: 'bomb', data: new Uint8Array(60_000_000) }])],
  ];
  test.each(bombs)('a bomb of %s', async (_, tar) => {
    const archive = gzip(tar());
    await expectRefusal(archive, 'archive_too_large', ['maxRatio']);
    await expectRefusal(archive, 'archive_too_large', ['5000000', 'maxUnpackedBytes'], {
      maxUnpackedBytes: 5_000_000,
      maxRatio: 1e9,
    });
  });
});
