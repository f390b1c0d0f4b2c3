import { describe, expect, test } from 'vitest';
import { readArchive } from '../../src/archives/read-archive.ts';
import { SkillError } from '../../src/core/errors.ts';
import { ARCHIVE_LIMITS, ARCHIVE_RATIO_FREE_BYTES } from '../../src/core/limits.ts';
import { gzip, rawTar, rawZip, tarGzOf, zipOf } from '../support/archive-bytes.ts';
import { expectRefusal, textsOf } from './reading.ts';

const SKILL = '---\nname: demo\ndescription: d\n---\n';
const FILES = {
  'demo/SKILL.md': SKILL,
  'demo/scripts/run.sh': 'true\n',
  'demo/leer.txt': '',
  'demo/ß/日本.md': 'ü',
};
/** Hardly compressible, so that no ratio is in the way. */
const noise = (bytes: number) =>
  Uint8Array.from({ length: bytes }, (_, at) => ((at * 2654435761) >>> 13) & 0xff);

/** The same entries as a zip and as a tar; a name that ends in `/` is a directory. */
const PACKERS = {
  zip: (names: readonly string[], data: string | Uint8Array = '') =>
    rawZip(names.map((name) => (name.endsWith('/') ? { name, unixMode: 0o40755 } : { name, data }))),
  'tar.gz': (names: readonly string[], data: string | Uint8Array = '') =>
    gzip(rawTar(names.map((name) => (name.endsWith('/') ? { name, type: '5' } : { name, data })))),
};

describe('what an archive is, its content says', () => {
  test('a zip and a tar.gz give the same files', async () => {
    expect(await textsOf(zipOf(FILES))).toEqual(FILES);
    expect(await textsOf(tarGzOf(FILES))).toEqual(FILES);
  });

  test('bytes are not changed on the way', async () => {
    const every = Uint8Array.from({ length: 70_000 }, (_, at) => at & 0xff);
    for (const archive of [zipOf({ 'a.bin': every }), tarGzOf({ 'a.bin': every })]) {
      expect(await readArchive(archive, ARCHIVE_LIMITS)).toEqual([
        { path: 'a.bin', mode: 0o644, bytes: every },
      ]);
    }
  });

  test('the answer does not change with the buffer that was read', async () => {
    for (const archive of [rawZip([{ name: 'a', method: 0, data: 'same' }]), tarGzOf({ a: 'same' })]) {
      const files = await readArchive(archive, ARCHIVE_LIMITS);
      archive.fill(0);
      expect(files.map((file) => Buffer.from(file.bytes).toString())).toEqual(['same']);
    }
  });

  test('archives without entries have no files', async () => {
    expect(await textsOf(rawZip([]))).toEqual({});
    expect(await textsOf(gzip(rawTar([])))).toEqual({});
  });

  test('an archive that is a view of a larger buffer', async () => {
    const zip = zipOf(FILES);
    const larger = new Uint8Array(zip.length + 20).fill(0x50);
    larger.set(zip, 7);
    expect(await textsOf(larger.subarray(7, 7 + zip.length))).toEqual(FILES);
  });

  test.each([
    ['no bytes', new Uint8Array(), 'empty'],
    ['one byte', Uint8Array.of(0x50), 'neither'],
    ['text', Buffer.from('not an archive at all'), 'neither'],
    ['a SKILL.md', Buffer.from(SKILL), 'neither'],
    ['a zip after junk', Buffer.concat([Buffer.from('junk'), zipOf(FILES)]), 'neither'],
    ['a plain tar', rawTar([{ name: 'demo/SKILL.md', data: SKILL }]), 'gzip'],
    ['7z', Uint8Array.of(0x37, 0x7a, 0xbc, 0xaf, 0x27, 0x1c), 'neither'],
    ['only the start of a zip', Buffer.from('PK\u0003\u0004'), 'zip'],
    ['only the start of an empty zip', Buffer.from('PK\u0005\u0006'), 'zip'],
    ['only the start of a gzip', Uint8Array.of(0x1f, 0x8b), 'gzip'],
    ['a gzip of nothing', gzip(''), 'nothing'],
    ['a gzip of text', gzip('x'.repeat(2000)), 'tar'],
    ['a gzip of a zip', gzip(zipOf(FILES)), 'tar'],
  ])('%s is refused', async (_, bytes, word) => {
    await expectRefusal(bytes, 'archive_invalid', [word]);
  });
});

describe.each(Object.entries(PACKERS))('paths in a %s', (_, pack) => {
  test.each([
    ['../up.md', 'leads out'],
    ['a/../../up.md', 'leads out'],
    ['./../up.md', 'leads out'],
    ['..', 'leads out'],
    ['../', 'leads out'],
    ['/etc/passwd', 'is absolute'],
    ['/', 'is empty'],
    ['.//etc/passwd', 'is absolute'],
    ['C:/x', 'is absolute'],
    ['c:x', 'is absolute'],
    ['a//b', 'empty or `.` segment'],
    ['a/./b', 'empty or `.` segment'],
    ['.', 'empty or `.` segment'],
    ['', 'is empty'],
    ['a\nb', 'control character'],
    ['a\u001bb', 'control character'],
    ['a\u007fb', 'control character'],
    ['a//', 'empty or `.` segment'],
  ])('%j is refused', async (name, problem) => {
    await expectRefusal(pack(['ok.md', name]), 'archive_unsafe', [problem, JSON.stringify(name)]);
  });

  test.each([
    [['a.md', 'a.md'], 'twice'],
    [['a.md', './a.md'], 'twice'],
    [['a', 'a/b'], 'is a file'],
    [['a/b', 'a'], 'both a file and a directory'],
    [['a/b/c/d', 'a/b'], 'both a file and a directory'],
    [['a', 'a/'], 'both a file and a directory'],
    [['a/', 'a'], 'both a file and a directory'],
  ])('%j together are refused', async (names, problem) => {
    await expectRefusal(pack(names), 'archive_unsafe', [problem, JSON.stringify(names[1])]);
  });

  test.each([
    [['./', './demo/', './demo/SKILL.md'], ['demo/SKILL.md']],
    [['././a.md'], ['a.md']],
    [
      ['a/b/', 'a/', 'a/', 'a/b/c', 'a'.repeat(90)],
      ['a/b/c', 'a'.repeat(90)],
    ],
    [
      ['...', '..a/b..', '.hidden', 'a b', 'é'],
      ['...', '..a/b..', '.hidden', 'a b', 'é'],
    ],
    [
      ['%2e%2e/x', 'A', 'a'],
      ['%2e%2e/x', 'A', 'a'],
    ],
    [
      ['d/.DS_Store', '__MACOSX/d/._SKILL.md', '.git/config'],
      ['d/.DS_Store', '__MACOSX/d/._SKILL.md', '.git/config'],
    ],
  ])('%j become %j', async (names, paths) => {
    expect(Object.keys(await textsOf(pack(names)))).toEqual(paths);
  });

  test('the length of a path is counted in bytes of UTF-8', async () => {
    expect(await textsOf(pack(['ééé/é']), { maxPathBytes: 9 })).toEqual({ 'ééé/é': '' });
    await expectRefusal(
      pack(['ok', 'ééé/é']),
      'archive_too_large',
      ['"ééé/é"', '9 bytes', '8', 'maxPathBytes'],
      {
        maxPathBytes: 8,
      },
    );
  });
});

describe.each(Object.entries(PACKERS))('limits of a %s', (format, pack) => {
  test('the packed size', async () => {
    const archive = pack(['a']);
    expect(await textsOf(archive, { maxPackedBytes: archive.length })).toEqual({ a: '' });
    await expectRefusal(archive, 'archive_too_large', [String(archive.length), 'maxPackedBytes'], {
      maxPackedBytes: archive.length - 1,
    });
  });

  test('the number of entries, directories and noise included', async () => {
    const archive = pack(['d/', 'd/.DS_Store', 'd/a', 'd/b']);
    expect(Object.keys(await textsOf(archive, { maxEntries: 4 }))).toHaveLength(3);
    await expectRefusal(archive, 'archive_too_large', ['3', 'maxEntries'], { maxEntries: 3 });
  });

  test('100,000 empty entries', async () => {
    const names = Array.from({ length: 100_000 }, (_, index) => `d/${index}`);
    await expectRefusal(pack(names), 'archive_too_large', format === 'zip' ? ['maxEntries'] : []);
  });

  test('the unpacked size, of all files together', async () => {
    const data = noise(60_000);
    const framing = format === 'zip' ? 0 : 2 * 512 + 2 * 512 + 2 * (60_416 - 60_000);
    const archive = pack(['a', 'b'], data);
    const exact = 120_000 + framing;
    expect(Object.keys(await textsOf(archive, { maxUnpackedBytes: exact }))).toEqual(['a', 'b']);
    await expectRefusal(
      archive,
      'archive_too_large',
      [String(exact - 1), 'maxUnpackedBytes', ...(format === 'zip' ? ['"b"'] : [])],
      { maxUnpackedBytes: exact - 1 },
    );
  });

  test('the ratio counts only above what every archive may unpack to', async () => {
    const free = ARCHIVE_RATIO_FREE_BYTES - (format === 'zip' ? 0 : 3 * 512);
    expect(await readArchive(pack(['zeros'], new Uint8Array(free)), ARCHIVE_LIMITS)).toHaveLength(1);
    await expectRefusal(pack(['zeros'], new Uint8Array(free + 1)), 'archive_too_large', ['maxRatio 200']);
  });

  test('the ratio is one of the whole archive', async () => {
    const archive = pack(['zeros'], new Uint8Array(2 * ARCHIVE_RATIO_FREE_BYTES));
    expect(await readArchive(archive, { ...ARCHIVE_LIMITS, maxRatio: 2000 })).toHaveLength(1);
    await expectRefusal(archive, 'archive_too_large', ['maxRatio 500'], { maxRatio: 500 });
  });

  test('an archive with many small files of the same kind is within the ratio', async () => {
    const names = Array.from({ length: 2_000 }, (_, index) => `skills/skill-${index % 500}/file-${index}.md`);
    expect(await readArchive(pack(names, 'x'), ARCHIVE_LIMITS)).toHaveLength(2_000);
  });

  test('a bomb of 60 MB', async () => {
    const words = ['maxRatio', ...(format === 'zip' ? ['"zeros"'] : [])];
    await expectRefusal(pack(['zeros'], new Uint8Array(60_000_000)), 'archive_too_large', words);
  });
});

describe.each(Object.entries({ zip: zipOf(FILES), 'tar.gz': tarGzOf(FILES) }))(
  'a damaged %s',
  (format, whole) => {
    /** Complete or a SkillError: nothing else may come out, least of all a crash or a promise that never ends. */
    async function outcomeOf(bytes: Uint8Array): Promise<string> {
      try {
        await readArchive(bytes, ARCHIVE_LIMITS);
        return 'read';
      } catch (error) {
        if (error instanceof SkillError) return error.code;
        throw error;
      }
    }

    test('cut anywhere, it is refused', async () => {
      for (let length = 0; length < whole.length; length += 1) {
        expect(await outcomeOf(whole.subarray(0, length)), `cut at ${length}`).toBe('archive_invalid');
      }
    });

    test('with any byte changed, it is read or refused', async () => {
      for (let at = 0; at < whole.length; at += 1) {
        for (const change of [0x01, 0x80, 0xff]) {
          const changed = Uint8Array.from(whole);
          changed[at] = (changed[at] ?? 0) ^ change;
          expect(['read', 'archive_invalid', 'archive_unsafe', 'archive_too_large']).toContain(
            await outcomeOf(changed),
          );
        }
      }
    });

    test('with something after its end, it is refused', async () => {
      const words = format === 'zip' ? ['central directory'] : ['gzip'];
      for (const tail of ['x', 'garbage after the end', '\u001f\u008b', '\u0000\u0000x']) {
        await expectRefusal(Buffer.concat([whole, Buffer.from(tail, 'latin1')]), 'archive_invalid', words);
      }
    });
  },
);
