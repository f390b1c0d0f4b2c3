import { deflateRawSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { readArchive } from '../../src/archives/read-archive.ts';
import { ARCHIVE_LIMITS } from '../../src/core/limits.ts';
import { rawZip, zipOf, type ZipOptions, type ZipSpec } from '../support/archive-bytes.ts';
import { expectRefusal, textsOf } from './reading.ts';

const FINE: ZipSpec = { name: 'fine.md', data: 'fine' };
const latin1 = (text: string) => Buffer.from(text, 'latin1');

describe('zips that are read', () => {
  const cases: readonly [string, ZipSpec, string][] = [
    ['stored', { name: 'a', data: 'text', method: 0 }, 'a'],
    [
      'with a data descriptor',
      {
        name: 'a',
        data: 'text',
        flags: 0x0808,
        local: { crc: 0, size: 0, packedSize: 0 },
        after: Buffer.alloc(16),
      },
      'a',
    ],
    [
      'with sizes of zip64 in the local header',
      { name: 'a', local: { size: 0xffffffff, packedSize: 0xffffffff } },
      'a',
    ],
    ['an empty file, called deflated, without data', { name: 'a', packed: new Uint8Array() }, 'a'],
    ['UTF-8 without the flag that says so', { name: 'é/日.md', flags: 0 }, 'é/日.md'],
    [
      'CP437, as a name without the flag is by the book',
      { name: latin1('caf\u0082.md'), flags: 0 },
      'café.md',
    ],
    ['backslashes', { name: 'demo\\agents\\x.yaml' }, 'demo/agents/x.yaml'],
  ];
  test.each(cases)('%s', async (_, entry, path) => {
    expect(Object.keys(await textsOf(rawZip([FINE, entry])))).toEqual(['fine.md', path]);
  });

  test.each<[string, ZipOptions]>([
    ['a comment', { comment: 'made by hand, PK' }],
    ['zip64', { zip64: true }],
  ])('%s', async (_, options) => {
    expect(await textsOf(rawZip([FINE], options))).toEqual({ 'fine.md': 'fine' });
  });

  test('a zip that holds a stored zip', async () => {
    const inner = zipOf({ 'inner.md': 'inner' });
    const files = await readArchive(
      rawZip([{ name: 'a.zip', data: inner, method: 0 }, FINE]),
      ARCHIVE_LIMITS,
    );
    expect(files.map((file) => file.path)).toEqual(['a.zip', 'fine.md']);
    expect(files[0]?.bytes).toEqual(inner);
  });

  test.each([
    [3, 0o100755, 0o755],
    [3, 0o100711, 0o755],
    [3, 0o100644, 0o644],
    [3, 0o100655, 0o644],
    [3, 0o104755, 0o755],
    [3, 0, 0o644],
    [19, 0o100755, 0o755],
    [0, 0o100755, 0o644],
    [10, 0, 0o644],
  ])('system %i and mode %i give mode %i', async (system, unixMode, mode) => {
    const files = await readArchive(rawZip([{ name: 'a', system, unixMode }]), ARCHIVE_LIMITS);
    expect(files.map((file) => file.mode)).toEqual([mode]);
  });
});

describe('zip entries that are not allowed', () => {
  const type = (name: string, unixMode: number, system = 3): ZipSpec => ({
    name,
    unixMode,
    system,
    data: '/etc/passwd',
  });
  const cases: readonly [string, ZipSpec, string][] = [
    ['a symbolic link', type('link', 0o120777), 'mode 120777'],
    ['a symbolic link, by DOS', type('link', 0o120777, 0), 'mode 120777'],
    ['a symbolic link that is called a directory', type('link/', 0o120777), 'mode 120777'],
    ['a device', type('dev', 0o020644), 'mode 20644'],
    ['a block device', type('dev', 0o060644), 'mode 60644'],
    ['a FIFO', type('pipe', 0o010644), 'mode 10644'],
    ['a socket', type('socket', 0o140644), 'mode 140644'],
    ['a file with the mode of a directory', type('d', 0o040755), 'mode 40755'],
    ['a directory with the mode of a file', type('d/', 0o100644), 'mode 100644'],
    ['a traversal in backslashes', { name: '..\\..\\x' }, 'leads out'],
    ['a drive in backslashes', { name: 'C:\\x' }, 'is absolute'],
    ['a network share', { name: '\\\\host\\share' }, 'is absolute'],
    ['a NUL', { name: 'a\u0000.md' }, 'control character'],
    ['a name that is not the UTF-8 it says', { name: latin1('caf\u00e9.md') }, 'not valid UTF-8'],
    ['the UTF-8 of half a surrogate pair', { name: latin1('a\u00ed\u00a0\u0080') }, 'not valid UTF-8'],
    ['an overlong `/`', { name: latin1('..\u00c0\u00afx') }, 'not valid UTF-8'],
  ];
  test.each(cases)('%s', async (_, entry, problem) => {
    await expectRefusal(rawZip([FINE, entry]), 'archive_unsafe', ['Entry "', problem]);
  });

  test('a harmless name with a traversal in its Unicode path field', async () => {
    const field = (path: string) => {
      const header = Buffer.from([0x75, 0x70, 5 + path.length, 0, 1, 0, 0, 0, 0]);
      // The CRC-32 of the name `a`, without which the field would not count.
      header.writeUInt32LE(0xe8b7be43, 5);
      return Buffer.concat([header, Buffer.from(path)]);
    };
    expect(Object.keys(await textsOf(rawZip([{ name: 'a', extra: field('b/c') }])))).toEqual(['b/c']);
    await expectRefusal(rawZip([{ name: 'a', extra: field('../../x') }]), 'archive_unsafe', [
      '"../../x"',
      'leads out',
    ]);
  });
});

describe('zips that cannot be trusted', () => {
  const long = 'x'.repeat(100_000);
  const cases: readonly [string, ZipSpec, string][] = [
    ['another CRC-32', { name: 'bad', data: 'text', crc: 1 }, 'CRC-32'],
    ['stored, another CRC-32', { name: 'bad', data: 'text', crc: 1, method: 0 }, 'CRC-32'],
    ['says 3 bytes, has 100,000', { name: 'bad', data: long, size: 3 }, 'sizes'],
    ['says 100,000 bytes, has 3', { name: 'bad', data: 'abc', size: 100_000 }, 'sizes'],
    ['says 256 MB, has 3', { name: 'bad', data: 'abc', size: 256_000_000 }, 'sizes'],
    ['stored, says 3 bytes, has 100,000', { name: 'bad', data: long, size: 3, method: 0 }, 'sizes'],
    ['stored, says 100,000 bytes, has 3', { name: 'bad', data: 'abc', size: 100_000, method: 0 }, 'sizes'],
    [
      'bytes after the compressed data',
      { name: 'bad', data: 'abc', packed: Buffer.concat([deflateRawSync('abc'), Buffer.from('more')]) },
      'sizes',
    ],
    [
      'compressed data that end early',
      { name: 'bad', data: 'abc', packed: deflateRawSync('abc').subarray(0, -1) },
      'end early',
    ],
    [
      'compressed data that are none',
      { name: 'bad', data: 'abc', packed: Buffer.from([0xff, 0xff, 0xff]) },
      'damaged',
    ],
    ['a directory with content', { name: 'bad/', data: 'hidden', unixMode: 0o40755 }, 'content'],
    ['encrypted', { name: 'bad', flags: 0x0801 }, 'encrypted'],
    ['another method', { name: 'bad', method: 12, data: 'bzip2' }, 'method 12'],
    ['another method, on a directory', { name: 'bad/', method: 99, unixMode: 0o40755 }, 'method 99'],
    [
      'packed data beyond the end',
      { name: 'bad', data: 'abc', packedSize: 5_000 },
      'less data than declared',
    ],
    ['a local header that is nowhere', { name: 'bad', offset: 1_000_000 }, 'no local header'],
    ['a local header that is none', { name: 'bad', offset: 3 }, 'no local header'],
    ['locally another name', { name: 'bad', local: { name: 'ok.' } }, 'name, "ok."'],
    [
      'locally another name of another length',
      { name: 'bad', local: { name: '../../x' } },
      'name, "../../x"',
    ],
    ['locally another method', { name: 'bad', local: { method: 0 } }, 'compression method'],
    ['locally encrypted', { name: 'bad', local: { flags: 0x0801 } }, 'encryption'],
    ['locally another size', { name: 'bad', data: 'abc', local: { size: 4 } }, 'size'],
    ['locally another packed size', { name: 'bad', data: 'abc', local: { packedSize: 1 } }, 'size'],
    ['locally another CRC-32', { name: 'bad', data: 'abc', local: { crc: 1 } }, 'CRC-32'],
  ];
  test.each(cases)('%s', async (_, entry, problem) => {
    await expectRefusal(rawZip([FINE, entry]), 'archive_invalid', ['"bad', problem]);
  });

  test('strong encryption is refused by the library', async () => {
    await expectRefusal(rawZip([FINE, { name: 'bad', flags: 0x0841 }]), 'archive_invalid', []);
  });

  const inner: ZipSpec = { name: 'in', method: 0, data: 'abc' };
  const headerAndData = rawZip([inner]).subarray(0, 30 + 2 + 3);
  const overlaps: readonly [string, readonly ZipSpec[]][] = [
    [
      'an entry inside another',
      [
        { name: 'a', method: 0, data: headerAndData },
        { ...inner, offset: 30 + 1 },
      ],
    ],
    ['an entry that reaches into the next', [{ name: 'a', data: 'abc', packedSize: 40 }, FINE]],
    ['an entry that reaches into the central directory', [FINE, { name: 'a', data: 'abc', packedSize: 20 }]],
  ];
  test.each(overlaps)('%s', async (_, entries) => {
    await expectRefusal(rawZip(entries), 'archive_invalid', ['overlap']);
  });

  test('two entries that share their data', async () => {
    await expectRefusal(rawZip([FINE, { ...FINE, name: 'more.md', offset: 0 }]), 'archive_invalid', [
      '"more.md"',
    ]);
  });

  test.each([0, 1, 3, 2 ** 16 - 1])('two entries and an end record that declares %i', async (count) => {
    const code = count > ARCHIVE_LIMITS.maxEntries ? 'archive_too_large' : 'archive_invalid';
    await expectRefusal(rawZip([FINE, { name: 'more.md' }], { count }), code, []);
  });

  test('more entries than a zip without zip64 can count', async () => {
    const entries = Array.from({ length: 65_537 }, (_, index) => ({ name: `${index}`, method: 0 }));
    await expectRefusal(rawZip(entries), 'archive_invalid', ['1 declared']);
    await expectRefusal(rawZip(entries, { zip64: true }), 'archive_too_large', ['65537', 'maxEntries']);
  });

  test('an entry that the central directory leaves out', async () => {
    const hidden = rawZip([{ name: 'hidden.md' }]).subarray(0, 30 + 9 + 2);
    const offset = hidden.length;
    const visible = rawZip([{ ...FINE, offset }]);
    // The end record counts from the start of the file.
    const zip = Buffer.concat([hidden, visible]);
    zip.writeUInt32LE(zip.readUInt32LE(zip.length - 6) + offset, zip.length - 6);
    await expectRefusal(zip, 'archive_invalid', ['before', '"fine.md"']);
  });

  test('declared sizes allocate nothing', async () => {
    const zip = rawZip([{ name: 'big.md', data: 'abc', size: 256_000_000 }]);
    const wide = rawZip([{ name: 'big.md', data: 'abc', size: 0xfffffffe, packedSize: 5 }], { zip64: true });
    const before = process.memoryUsage().arrayBuffers;
    await expectRefusal(zip, 'archive_invalid', ['"big.md"']);
    await expectRefusal(wide, 'archive_invalid', ['"big.md"']);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(16 * 1024 * 1024);
  });
});
