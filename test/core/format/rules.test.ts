import { describe, expect, test } from 'vitest';
import { both, breach, clean, demoWith, expectRow, fileOf, MODES, read } from './reading.ts';
import type { Row } from './reading.ts';

const named = (name: string) => fileOf(`name: ${name}`, 'description: d');
const described = (text: string) => fileOf('name: demo', `description: ${JSON.stringify(text)}`);
const compatible = (text: string) => demoWith(`compatibility: ${JSON.stringify(text)}`);

type Rows = readonly (readonly [what: string, content: string, row: Row])[];

const LONG_NAME = 'a'.repeat(64);

describe('[J23] name', () => {
  test.each(['a', '1', 'a-1', 'sql-review', LONG_NAME, '123', '007', 'true'])(
    '[J23] %s is a name in both modes, whatever YAML takes it for',
    (name) => {
      for (const mode of MODES) {
        expect(read(named(name), mode, { directory: name })).toMatchObject({ told: [], metadata: { name } });
      }
    },
  );

  const REPAIRED: readonly (readonly [given: string, name: string])[] = [
    ['Demo', 'demo'],
    ['my skill', 'my-skill'],
    ['my_skill', 'my-skill'],
    ['-demo', 'demo'],
    ['demo-', 'demo'],
    ['de--mo', 'de-mo'],
    ['1.10', '1-10'],
    ['"../../etc"', 'etc'],
    ['"a/b"', 'a-b'],
    ['"de\\u0000mo"', 'de-mo'],
    ['café', 'cafe'],
    [`${LONG_NAME}a`, LONG_NAME],
  ];
  test.each(REPAIRED)('[J23] %s is refused in strict and read as %s in lenient', (given, name) => {
    expect(read(named(given), 'strict', { directory: name }).told).toEqual(['error invalid_name 2']);
    const lenient = read(named(given), 'lenient', { directory: name });
    expect(lenient.told).toEqual(['warning invalid_name 2']);
    expect(lenient.metadata?.name).toBe(name);
  });

  test.each(['日本語', '"🦆"', '"---"', '" "', '""', '[a, b]', '{a: b}'])(
    '[J27] %s leaves no name in either mode: invalid_name',
    (given) => {
      expectRow(named(given), both('error invalid_name 2'));
    },
  );

  test.each(['', 'null', '~', '# later'])('[J27] a name that is `%s` is missing_field', (given) => {
    expectRow(named(given), both('error missing_field 2'));
  });

  test('[J23] a name differs from its directory: refused in strict, loaded in lenient', () => {
    expectRow(named('other'), { ...breach('directory_name_mismatch 2'), reads: { name: 'other' } });
  });

  test('[J23] at the root of an archive there is no directory to agree with', () => {
    for (const mode of MODES) expect(read(named('other'), mode, { directory: undefined }).told).toEqual([]);
  });

  test.each(['skill.md', 'Skill.md', 'SKILL.MD'])('[J23] a file named %s', (fileName) => {
    expect(read(demoWith(), 'strict', { fileName }).told).toEqual(['error wrong_file_name']);
    const lenient = read(demoWith(), 'lenient', { fileName });
    expect(lenient.told).toEqual(['warning wrong_file_name']);
    expect(lenient.metadata?.name).toBe('demo');
  });
});

describe('[J23] description', () => {
  const shortened = (text: string): Row => ({ ...breach('invalid_field 3'), reads: { description: text } });
  const ROWS: Rows = [
    ['1 character', described('x'), clean],
    ['1,024 characters', described('x'.repeat(1024)), clean],
    ['1,025 characters', described('x'.repeat(1025)), shortened('x'.repeat(1024))],
    ['1,300 characters', described('x'.repeat(1300)), shortened('x'.repeat(1024))],
    ['400 CJK characters of 1,200 bytes', described('漢'.repeat(400)), clean],
    ['1,024 emoji of two code units', described('🦆'.repeat(1024)), clean],
    ['1,025 emoji', described('🦆'.repeat(1025)), shortened('🦆'.repeat(1024))],
    [
      '1,024 and the line end of a block',
      fileOf('name: demo', 'description: |', `  ${'x'.repeat(1024)}`),
      clean,
    ],
    ['blank', described('   '), both('error invalid_field 3')],
    ['empty quotes', described(''), both('error invalid_field 3')],
    ['only marks of no width', described('\u200b\u2060\ufeff'), both('error invalid_field 3')],
    ['nothing', fileOf('name: demo', 'description:'), both('error missing_field 3')],
    ['null', fileOf('name: demo', 'description: null'), both('error missing_field 3')],
    ['not there', fileOf('name: demo'), both('error missing_field 1')],
    ['a list', fileOf('name: demo', 'description:', '  - a', '  - b'), breach('invalid_field 3')],
    ['a list in brackets', fileOf('name: demo', 'description: [a, b]'), shortened('[a, b]')],
    ['a mapping', fileOf('name: demo', 'description:', '  a: b'), shortened('a: b')],
    ['a boolean', fileOf('name: demo', 'description: true'), both('warning invalid_field 3')],
    ['a control character', described('a\u0007b'), shortened('a b')],
    ['an escape sequence', described('a\u001b[31mb'), shortened('a [31mb')],
    ['a broken surrogate', fileOf('name: demo', 'description: "a\\ud83db"'), shortened('a\ufffdb')],
  ];
  test.each(ROWS)('[J23] %s', (_, content, row) => {
    expectRow(content, row);
  });

  test('[J23] the refusal gives the actual length', () => {
    const { findings } = read(described('🦆'.repeat(1300)), 'strict');
    expect(findings[0]?.message).toContain('1300');
  });
});

describe('[J23] the optional fields', () => {
  const absent = { license: undefined, compatibility: undefined };
  const ROWS: Rows = [
    ['license as text', demoWith('license: Apache-2.0'), { ...clean, reads: { license: 'Apache-2.0' } }],
    [
      'license as a number',
      demoWith('license: 1.0'),
      { ...breach('invalid_field 4'), reads: { license: '1.0' } },
    ],
    [
      'license as a boolean',
      demoWith('license: true'),
      { ...breach('invalid_field 4'), reads: { license: 'true' } },
    ],
    ['license without a value', demoWith('license:'), { ...breach('invalid_field 4'), reads: absent }],
    ['license null', demoWith('license: null'), { ...breach('invalid_field 4'), reads: absent }],
    ['license as a list', demoWith('license: [MIT]'), breach('invalid_field 4')],
    ['license as a mapping', demoWith('license:', '  spdx: MIT'), breach('invalid_field 4')],
    ['compatibility of 1', compatible('x'), clean],
    ['compatibility of 500 emoji', compatible('🦆'.repeat(500)), clean],
    [
      'compatibility of 501',
      compatible('🦆'.repeat(501)),
      { ...breach('invalid_field 4'), reads: { compatibility: '🦆'.repeat(500) } },
    ],
    ['compatibility blank', compatible('  '), { ...breach('invalid_field 4'), reads: absent }],
    ['compatibility null', demoWith('compatibility: ~'), { ...breach('invalid_field 4'), reads: absent }],
    ['compatibility as a list', demoWith('compatibility: [a]'), breach('invalid_field 4')],
    [
      'metadata of texts',
      demoWith('metadata:', '  a: b', '  c: "1"'),
      { ...clean, reads: { metadata: { a: 'b', c: '1' } } },
    ],
    ['metadata empty in braces', demoWith('metadata: {}'), { ...clean, reads: { metadata: {} } }],
    ['metadata as text', demoWith('metadata: x'), { ...breach('invalid_field 4'), reads: { metadata: {} } }],
    [
      'metadata as a list',
      demoWith('metadata: [x]'),
      { ...breach('invalid_field 4'), reads: { metadata: {} } },
    ],
    ['metadata without a value', demoWith('metadata:'), { strict: ['error invalid_field 4'], lenient: [] }],
    [
      'metadata with a number, a boolean, a null and a list',
      demoWith('metadata:', '  a: 1.0', '  b: true', '  c: null', '  d: [x]'),
      {
        ...breach(...[5, 6, 7, 8].map((line) => `invalid_field ${line}`)),
        reads: { metadata: { a: '1.0', b: 'true', c: '', d: '[x]' } },
      },
    ],
    ['a comment in metadata', demoWith('metadata:', '  a: b # c'), both('warning invalid_field 5')],
    ['a field that is not in the specification', demoWith('author: me'), breach('unknown_field 4')],
    ['a field in other letters', demoWith('Allowed-Tools: Read'), breach('unknown_field 4')],
    ['a field named __proto__', demoWith('__proto__: {allowedTools: [x]}'), breach('unknown_field 4')],
  ];
  test.each(ROWS)('[J23] %s', (_, content, row) => {
    expectRow(content, row);
  });

  test('[J23] keys such as __proto__ are keys of metadata like others', () => {
    const { metadata } = read(demoWith('metadata:', '  __proto__: x', '  constructor: y'), 'strict');
    expect(Object.entries(metadata?.metadata ?? {})).toEqual([
      ['__proto__', 'x'],
      ['constructor', 'y'],
    ]);
    expect(Object.getPrototypeOf(metadata?.metadata)).toBe(Object.prototype);
  });

  test('[J23] all that is wrong is told at once, with its line', () => {
    const content = fileOf('name: Demo', 'license: 1', 'author: me', 'metadata: x');
    expect(read(content, 'strict').told).toEqual([
      'error invalid_name 2',
      'error missing_field 1',
      'error invalid_field 3',
      'error invalid_field 5',
      'error unknown_field 4',
    ]);
  });
});

describe('[J24] own metadata under namespaced keys', () => {
  test('[J24] tags are separated by blanks or commas, once each, and the version is text', () => {
    const content = demoWith(
      'metadata:',
      '  skillbucket.tags: "sql, review sql"',
      '  skillbucket.version: "1.10"',
    );
    for (const mode of MODES) {
      const { metadata, told } = read(content, mode);
      expect(told).toEqual([]);
      expect(metadata).toMatchObject({ tags: ['sql', 'review'], version: '1.10' });
    }
  });

  test('[J24] keys of other namespaces, and top-level tags, mean nothing here', () => {
    const { metadata } = read(demoWith('metadata:', '  tags: a', '  version: "2"', 'tags: b'), 'lenient');
    expect(metadata).toMatchObject({ tags: [], metadata: { tags: 'a', version: '2' } });
    expect(metadata).not.toHaveProperty('version');
  });

  test('[J24] a skill without them has no tags and no version', () => {
    const { metadata } = read(demoWith(), 'strict');
    expect(metadata?.tags).toEqual([]);
    expect(metadata).not.toHaveProperty('version');
  });
});
