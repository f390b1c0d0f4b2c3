import { describe, expect, test } from 'vitest';
import { parseSkillMetadata } from '../../../src/core/format/skill-document.ts';
import { MAX_FRONTMATTER_BYTES, MAX_SKILL_MD_BYTES } from '../../../src/core/limits.ts';
import { both, demoWith, expectRow, fileOf, MODES, read } from './reading.ts';

const DEMO = demoWith();
const bytesOf = (...parts: (string | readonly number[])[]): Uint8Array =>
  new Uint8Array(
    Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from(part)))),
  );
const utf16be = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'utf16le').swap16());
const utf16le = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'utf16le'));

describe('Encodings', () => {
  test('one UTF-8 byte order mark is passed over; metadata and body are the same as without', () => {
    for (const mode of MODES) {
      const marked = read(`\ufeff${DEMO}`, mode);
      expect(marked).toEqual(read(DEMO, mode));
      expect(marked.instructions).toBe('Body\n');
    }
  });

  test('a byte order mark hides no field: what restricts is seen', () => {
    expectRow(`\ufeff${demoWith('platforms: [macos]')}`, {
      strict: ['error unknown_field 4'],
      lenient: ['warning unknown_field 4'],
    });
  });

  test.each([
    ['two byte order marks', '\ufeff\ufeff---\nname: demo\n---\n'],
    ['nothing but a byte order mark', '\ufeff'],
    ['a blank line first', `\n${DEMO}`],
    ['a blank before the fence', ` ${DEMO}`],
    ['four hyphens', `-${DEMO}`],
    ['text after the opening fence', DEMO.replace('---\n', '--- yaml\n')],
    ['lines that end in a carriage return alone', DEMO.replaceAll('\n', '\r')],
  ])('[J27] no_frontmatter: %s', (_, content) => {
    expectRow(content, both('error no_frontmatter 1'));
  });

  test.each([
    ['UTF-16LE with a mark', bytesOf([0xff, 0xfe], [...utf16le(DEMO)])],
    ['UTF-16BE with a mark', bytesOf([0xfe, 0xff], [...utf16be(DEMO)])],
    ['UTF-16LE without a mark', utf16le(DEMO)],
    ['UTF-16BE without a mark', utf16be(DEMO)],
    ['UTF-32LE with a mark', bytesOf([0xff, 0xfe, 0, 0, 0x2d, 0, 0, 0])],
  ])('%s is told apart from a missing frontmatter', (_, content) => {
    expectRow(content, both('error not_utf8 1'));
  });

  test('bytes that are not UTF-8 in the frontmatter name their line', () => {
    expectRow(bytesOf('---\nname: demo\ndescription: ', [0xa1, 0xaa], '\n---\n'), both('error not_utf8 3'));
  });

  test('bytes that are not UTF-8 in the body name their line', () => {
    expectRow(bytesOf(DEMO, 'one\ntwo ', [0xa1, 0xaa]), both('error not_utf8 7'));
  });

  test.each([
    ['an overlong slash', [0xc0, 0xaf]],
    ['an encoded surrogate', [0xed, 0xa0, 0x80]],
    ['a code point beyond Unicode', [0xf4, 0x90, 0x80, 0x80]],
    ['a character cut in two', [0xe6, 0xbc]],
  ])('%s is not UTF-8', (_, bad) => {
    expectRow(bytesOf(DEMO, bad), both('error not_utf8 6'));
    expectRow(bytesOf('---\nname: demo\ndescription: d', bad, '\n---\n'), both('error not_utf8 3'));
  });

  test('CRLF reads the same as LF, and no value keeps a carriage return', () => {
    const lines = [
      'license: MIT',
      'metadata:',
      '  skillbucket.tags: a b',
      'allowed-tools: >-',
      '  Read',
      '  Bash',
    ];
    const unix = read(demoWith(...lines), 'strict').metadata;
    const windows = read(demoWith(...lines).replaceAll('\n', '\r\n'), 'strict').metadata;
    expect({ ...windows, frontmatter: '' }).toEqual({ ...unix, frontmatter: '' });
    expect(windows?.frontmatter).toBe(unix?.frontmatter.replaceAll('\n', '\r\n'));
  });

  test('CRLF is repaired as LF is', () => {
    const content = fileOf('name: demo', 'description: Use when: x', 'allowed-tools: Read').replaceAll(
      '\n',
      '\r\n',
    );
    const { metadata, told } = read(content, 'lenient');
    expect(told).toEqual(['warning repaired_yaml 3']);
    expect(metadata).toMatchObject({ description: 'Use when: x', allowedTools: ['Read'] });
  });
});

describe('Kept as it came', () => {
  const body = '# Title\n---\n  text  \r\n---\n\n---\n\u{1f986}';

  test('only the first closing fence counts, and the body is verbatim', () => {
    for (const mode of MODES) {
      expect(read(`---\nname: demo\ndescription: d\n---\n${body}`, mode).instructions).toBe(body);
    }
  });

  test('the frontmatter is verbatim, also where the view of it is repaired', () => {
    const block = 'name:   demo\n# why\ndescription: Use when: "x"  \nAuthor: me   # c\n\n';
    expect(read(`---\n${block}---\n`, 'lenient').metadata?.frontmatter).toBe(block);
  });

  test.each(['', '\n', 'no line end'])('the body %j', (text) => {
    expect(read(`---\nname: demo\ndescription: d\n---\n${text}`, 'strict').instructions).toBe(text);
  });

  test('a closing fence may end the file', () => {
    expect(read('---\nname: demo\ndescription: d\n---', 'strict').instructions).toBe('');
  });

  test('[J2] the body is not looked at when only metadata is wanted', () => {
    const bytes = bytesOf(DEMO, [0xff, 0xff]);
    const file = { path: 'demo/SKILL.md', fileName: 'SKILL.md', directory: 'demo', bytes };
    expect(parseSkillMetadata(file, 'strict').metadata?.name).toBe('demo');
  });
});

describe('Sizes', () => {
  const start = 'name: demo\ndescription: d\n';
  /** A frontmatter of just so many bytes, the last line feed included. */
  const ofBytes = (size: number) => `${start}#${'x'.repeat(size - start.length - 2)}\n`;

  test('a frontmatter of 65,536 bytes is read, of 65,537 refused', () => {
    expectRow(`---\n${ofBytes(MAX_FRONTMATTER_BYTES)}---\nBody`, both());
    expectRow(`---\n${ofBytes(MAX_FRONTMATTER_BYTES + 1)}---\nBody`, both('error frontmatter_too_large 1'));
  });

  test('bytes are counted, not characters', () => {
    const wide = `${start}#${'漢'.repeat(MAX_FRONTMATTER_BYTES / 3)}\n`;
    expectRow(`---\n${wide}---\n`, both('error frontmatter_too_large 1'));
  });

  test('a large file without a closing fence is too large, not searched to its end', () => {
    expectRow(`---\n${'x: y\n'.repeat(100_000)}`, both('error frontmatter_too_large 1'));
    expectRow(`---\n${'x'.repeat(1_000_000)}`, both('error frontmatter_too_large 1'));
  });

  test('a body may be large, up to the limit of a SKILL.md', () => {
    const rest = MAX_SKILL_MD_BYTES - DEMO.length;
    expectRow(DEMO + 'x'.repeat(rest), both());
    expectRow(DEMO + 'x'.repeat(rest + 1), both('error file_too_large'));
  });

  test('the same is told of the beginning of a file as of the whole', () => {
    const whole = bytesOf(`---\n${ofBytes(MAX_FRONTMATTER_BYTES)}---\n`, 'x'.repeat(100_000));
    const beginning = whole.subarray(0, MAX_FRONTMATTER_BYTES + 1_024);
    const at = { path: 'demo/SKILL.md', fileName: 'SKILL.md', directory: 'demo' };
    expect(parseSkillMetadata({ ...at, bytes: beginning }, 'strict')).toEqual(
      parseSkillMetadata({ ...at, bytes: whole }, 'strict'),
    );
  });
});

describe('What would keep a parser busy', () => {
  const aliases = Array.from({ length: 9 }, (_, level) =>
    level === 0
      ? 'l0: &l0 [x, x, x]'
      : `l${level}: &l${level} [${Array(9)
          .fill(`*l${level - 1}`)
          .join(', ')}]`,
  );

  test('nine levels of nine aliases are refused at the first anchor', () => {
    expectRow(demoWith(...aliases), both('error invalid_yaml 4'));
  });

  test.each([
    ['brackets', '['.repeat(20_000)],
    ['closed brackets', '['.repeat(20_000) + ']'.repeat(20_000)],
    ['braces', '{a: '.repeat(10_000) + '}'.repeat(10_000)],
    ['lists on a line', `\n  ${'- '.repeat(20_000)}x`],
    ['keys on a line', `\n  ${'? '.repeat(20_000)}x`],
    ['tags', '! '.repeat(20_000)],
    ['anchors', '&a '.repeat(20_000)],
    ['aliases', '*a '.repeat(20_000)],
    ['closing brackets', '] '.repeat(20_000)],
  ])('a flood of %s is refused', (_, text) => {
    expectRow(demoWith(`metadata: ${text}`), both('error invalid_yaml 2'));
  });

  test('nesting by indentation is refused or kept, and nothing is thrown', () => {
    const lines = Array.from({ length: 300 }, (_, index) => `${' '.repeat(index + 1)}a:`);
    expectRow(demoWith('metadata:', ...lines), {
      strict: ['error invalid_field 5'],
      lenient: ['warning invalid_field 5'],
    });
  });

  test('thousands of fields are refused, with findings that stay few', () => {
    const lines = Array.from({ length: 9_000 }, (_, index) => `k${index}:`);
    for (const mode of MODES) {
      const { findings, metadata } = read(demoWith(...lines), mode);
      expect(metadata === undefined).toBe(mode === 'strict');
      expect(findings.length).toBeLessThanOrEqual(101);
    }
  });

  test('thousands of values that need a repair are refused', () => {
    const lines = Array.from({ length: 5_000 }, (_, index) => `k${index}: a: b`);
    expect(read(demoWith(...lines), 'lenient').told).toEqual(['error invalid_yaml 4']);
  });

  test('one value of 60,000 characters with a colon at every third', () => {
    expectRow(fileOf('name: demo', `description: ${'a: '.repeat(20_000)}`), {
      strict: ['error invalid_yaml 3'],
      lenient: ['warning repaired_yaml 3', 'warning invalid_field 3'],
    });
  });
});
