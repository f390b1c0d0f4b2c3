import { describe, test } from 'vitest';
import { both, breach, clean, demoWith, expectRow, fileOf } from './reading.ts';
import type { Row } from './reading.ts';

/** Every line of the collected inputs that broke other loaders, section "Frontmatter", and what belongs to its kind. */

const repaired = (line: number, strictCode = `error invalid_yaml ${line}`): Row => ({
  strict: [strictCode],
  lenient: [`warning repaired_yaml ${line}`],
});

const ROWS: readonly (readonly [what: string, content: string, row: Row])[] = [
  [
    'an unquoted colon in the description is repaired, and allowed-tools kept',
    fileOf('name: demo', 'description: Use when: someone asks for a chart', 'allowed-tools: Read'),
    {
      ...repaired(3),
      reads: { description: 'Use when: someone asks for a chart', allowedTools: ['Read'], name: 'demo' },
    },
  ],
  [
    'the repair covers any top-level value, and name and description survive',
    demoWith('argument-hint: [mode] - fast or slow'),
    {
      strict: ['error invalid_yaml 4'],
      lenient: ['warning repaired_yaml 4', 'warning unknown_field 4'],
      reads: { name: 'demo', description: 'd' },
    },
  ],
  [
    'a repaired value may go over several lines; later findings keep their line',
    fileOf('name: demo', 'description: Use when: a chart', '  or: a map', 'license: 1.10'),
    {
      strict: ['error invalid_yaml 3'],
      lenient: ['warning repaired_yaml 3', 'warning invalid_field 5'],
      reads: { description: 'Use when: a chart or: a map', license: '1.10' },
    },
  ],
  ['only a heading', '# Title\n', both('error no_frontmatter 1')],
  ['no file at all', '', both('error no_frontmatter 1')],
  ['a fence that nothing closes', '---\nname: demo\n', both('error no_frontmatter 1')],
  ['only an opening fence', '---', both('error no_frontmatter 1')],
  [
    'an empty frontmatter misses both fields',
    '---\n---\nBody',
    both('error missing_field 1', 'error missing_field 1'),
  ],
  [
    'a frontmatter of comments misses both fields',
    '---\n# nothing\n---\n',
    both('error missing_field 1', 'error missing_field 1'),
  ],
  ['blanks after either fence', '--- \t\nname: demo\ndescription: d\n---  \nBody', clean],
  [
    'a fence is a whole line: --- inside a value',
    fileOf('name: demo', 'description: Joins parts with --- marks', 'license: MIT'),
    { ...clean, reads: { description: 'Joins parts with --- marks', license: 'MIT' } },
  ],
  [
    'a fence is a whole line: allowed-tools after a---b is seen',
    fileOf('name: demo', 'description: "safe a---b"', 'allowed-tools: "*"'),
    { ...clean, reads: { description: 'safe a---b', allowedTools: ['*'] } },
  ],
  [
    'a fence in a block scalar is indented, so it is text',
    fileOf('name: demo', 'description: |', '  a', '  ---', '  b', 'license: MIT'),
    { ...clean, reads: { description: 'a\n---\nb\n', license: 'MIT' } },
  ],
  [
    'a description on one line',
    fileOf('name: demo', 'description: One line, with punctuation.'),
    { ...clean, reads: { description: 'One line, with punctuation.' } },
  ],
  [
    'the same description folded',
    fileOf('name: demo', 'description: >-', '  One line,', '  with punctuation.'),
    { ...clean, reads: { description: 'One line, with punctuation.' } },
  ],
  [
    'a literal block is kept verbatim',
    fileOf('name: demo', 'description: |', '  Line one', '  USE FOR: x'),
    { ...clean, reads: { description: 'Line one\nUSE FOR: x\n' } },
  ],
  [
    'a number as description is text',
    fileOf('name: demo', 'description: 007'),
    { ...both('warning invalid_field 3'), reads: { description: '007' } },
  ],
  [
    'a boolean and a date in unknown fields are not rewritten',
    demoWith('enabled: true', 'created: 2024-01-01'),
    {
      ...breach('unknown_field 4', 'unknown_field 5'),
      reads: { frontmatter: 'name: demo\ndescription: d\nenabled: true\ncreated: 2024-01-01\n' },
    },
  ],
  [
    'an unquoted version number keeps its zero',
    demoWith('metadata: {version: 1.10}'),
    { ...breach('invalid_field 4'), reads: { metadata: { version: '1.10' } } },
  ],
  [
    'nested metadata is refused or kept as its source',
    demoWith('metadata:', '  acme:', '    emoji: x'),
    { ...breach('invalid_field 5'), reads: { metadata: { acme: 'emoji: x' } } },
  ],
  [
    'fields of one product',
    demoWith('user-invocable: true', 'argument-hint: a', 'model: m', 'when_to_use: w', 'version: 1.0'),
    breach(...[4, 5, 6, 7, 8].map((line) => `unknown_field ${line}`)),
  ],
  [
    'unknown fields survive byte for byte',
    demoWith('user-invocable:   true # yes', 'hooks: {PreToolUse: [ {matcher: "Bash"} ]}'),
    {
      ...breach('unknown_field 4', 'unknown_field 5'),
      reads: {
        frontmatter:
          'name: demo\ndescription: d\nuser-invocable:   true # yes\nhooks: {PreToolUse: [ {matcher: "Bash"} ]}\n',
      },
    },
  ],
  [
    'a template expression is data',
    fileOf('name: demo', 'description: "{{ 7*7 }}"'),
    { ...clean, reads: { description: '{{ 7*7 }}' } },
  ],
  [
    'an unquoted template expression is data too',
    fileOf('name: demo', 'description: {{ 7*7 }}'),
    { ...repaired(3), reads: { description: '{{ 7*7 }}' } },
  ],
  ['tags as a mapping', demoWith('tags: {a: 1}'), breach('unknown_field 4')],
  [
    'a comment takes the tail of a value, and that is told',
    fileOf('name: demo', 'description: fix C # issues'),
    { ...both('warning invalid_field 3'), reads: { description: 'fix C' } },
  ],
  [
    'a sharp without a blank before it is text',
    fileOf('name: demo', 'description: fix C# and F#'),
    { ...clean, reads: { description: 'fix C# and F#' } },
  ],
  [
    'a word that YAML takes for a tag is kept',
    fileOf('name: demo', 'description: !important thing'),
    { ...repaired(3), reads: { description: '!important thing' } },
  ],
  [
    'bold markdown is no alias',
    fileOf('name: demo', 'description: *Only* for charts'),
    { ...repaired(3), reads: { description: '*Only* for charts' } },
  ],
  ...[
    '@mention first',
    '`code` first',
    '% of sales',
    '- a bullet',
    '? a question',
    '[draft] charts',
    '{x} and y',
  ].map(
    (text) =>
      [
        `a value that begins with a YAML sign: ${text}`,
        fileOf('name: demo', `description: ${text}`),
        {
          strict: ['error invalid_yaml 3'],
          lenient: ['warning repaired_yaml 3'],
          reads: { description: text },
        },
      ] as const,
  ),
];

describe('Frontmatter that broke other loaders', () => {
  test.each(ROWS)('%s', (_, content, row) => {
    expectRow(content, row);
  });
});

describe('What no mode reads', () => {
  const REFUSED: readonly (readonly [what: string, content: string, line: number])[] = [
    ['an anchor', fileOf('name: demo', 'description: &a text'), 3],
    ['an alias', fileOf('name: &a demo', 'description: *a'), 2],
    ['an anchor in metadata', demoWith('metadata: &m {a: b}'), 4],
    ['a merge key with an alias', fileOf('base: &b {license: x}', 'name: demo', '<<: *b'), 2],
    ['a tag in metadata', demoWith('metadata:', '  a: !secret b'), 5],
    ['a name twice', demoWith('name: other'), 4],
    ['a field twice, quoted once', demoWith('"description": other'), 4],
    ['a key of metadata twice', demoWith('metadata:', '  a: b', '  a: c'), 6],
    ['a list in place of fields', fileOf('- name: demo'), 2],
    ['a text in place of fields', fileOf('just words'), 2],
    ['a key that is a list', demoWith('? [a, b]', ': c'), 4],
    ['a tab as indentation', demoWith('metadata:', '\ta: b'), 5],
    ['a line ... that ends the document early', demoWith('...', 'allowed-tools: Read'), 4],
    ['a second document', demoWith('--- more', 'allowed-tools: Read'), 4],
    ['a quoted value that is not closed', fileOf('name: demo', 'description: "open', 'license: MIT'), 5],
  ];

  test.each(REFUSED)('[J27] %s is invalid_yaml', (_, content, line) => {
    expectRow(content, both(`error invalid_yaml ${line}`));
  });
});
