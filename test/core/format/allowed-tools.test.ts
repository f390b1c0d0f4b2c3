import { describe, expect, test } from 'vitest';
import { both, breach, clean, demoWith, expectRow, fileOf, MODES, read } from './reading.ts';
import type { Row } from './reading.ts';

const tools = (...allowedTools: string[]) => ({ reads: { allowedTools } });

describe('allowed-tools', () => {
  const ROWS: readonly (readonly [what: string, lines: readonly string[], row: Row])[] = [
    ['a text', ['allowed-tools: Read Bash'], { ...clean, ...tools('Read', 'Bash') }],
    ['several blanks', ['allowed-tools: "Read   Bash "'], { ...clean, ...tools('Read', 'Bash') }],
    ['a folded text', ['allowed-tools: >-', '  Read', '  Bash'], { ...clean, ...tools('Read', 'Bash') }],
    [
      'blanks in parentheses',
      ['allowed-tools: Bash(git add *) Read'],
      { ...clean, ...tools('Bash(git add *)', 'Read') },
    ],
    [
      'parentheses in parentheses',
      ['allowed-tools: Bash(echo $(date -u) *) Read'],
      { ...clean, ...tools('Bash(echo $(date -u) *)', 'Read') },
    ],
    [
      'commas in parentheses',
      ['allowed-tools: Bash(a, b) Read'],
      { ...clean, ...tools('Bash(a, b)', 'Read') },
    ],
    [
      'commas between tools are read, and told',
      ['allowed-tools: Bash(git add *), Read'],
      { ...both('warning invalid_field 4'), ...tools('Bash(git add *)', 'Read') },
    ],
    ['no tool at all', ['allowed-tools: ""'], { ...clean, ...tools() }],
    ['every tool', ['allowed-tools: "*"'], { ...clean, ...tools('*') }],
    [
      'a list in brackets',
      ['allowed-tools: [Read, Bash]'],
      { ...breach('invalid_field 4'), ...tools('Read', 'Bash') },
    ],
    [
      'a list of lines',
      ['allowed-tools:', '  - Read', '  - Bash'],
      { ...breach('invalid_field 4'), ...tools('Read', 'Bash') },
    ],
    [
      'a list at column 1',
      ['allowed-tools:', '- Read', '- Bash'],
      { ...breach('invalid_field 4'), ...tools('Read', 'Bash') },
    ],
    ['a null', ['allowed-tools: null'], { ...breach('invalid_field 4'), ...tools() }],
    ['a number', ['allowed-tools: 5'], { ...breach('invalid_field 4'), ...tools('5') }],
    [
      'a list with a null',
      ['allowed-tools: [Read, null]'],
      { ...breach('invalid_field 4'), ...tools('Read') },
    ],
    [
      'a comment that takes tools away is told',
      ['allowed-tools: Bash(git commit -m #1) Read'],
      both('warning invalid_field 4'),
    ],
  ];
  test.each(ROWS)('[J23] %s', (_, lines, row) => {
    expectRow(demoWith(...lines), row);
  });

  const LOST: readonly (readonly [what: string, lines: readonly string[], told: string])[] = [
    ['a mapping', ['allowed-tools: {Read: true}'], 'error invalid_field 4'],
    ['a list with a mapping', ['allowed-tools:', '  - Bash: git'], 'error invalid_field 4'],
    ['a list in a list', ['allowed-tools: [[Read], Bash]'], 'error invalid_field 4'],
    ['a list that YAML cannot read', ['allowed-tools: [Read, Bash(git: *)]'], 'error invalid_yaml 4'],
  ];
  test.each(LOST)('what would lose tools is refused in both modes: %s', (_, lines, told) => {
    expectRow(demoWith(...lines), both(told));
  });

  test.each([
    ['indented below another value', ['description: Use when: x', ' allowed-tools: Read']],
    ['indented by a tab', ['description: Use when: x', '\tallowed-tools: Read']],
    ['after a second document', ['description: Use when: x', '--- y', 'allowed-tools: Read']],
    ['after the end of the document', ['description: Use when: x', '...', 'allowed-tools: Read']],
  ])('the repair never swallows allowed-tools: %s', (_, lines) => {
    for (const mode of MODES) {
      const { told, metadata } = read(fileOf('name: demo', ...lines), mode);
      expect(metadata).toBeUndefined();
      expect(told).toEqual([expect.stringMatching(/^error invalid_yaml [345]$/)]);
    }
  });

  test('what is repaired above keeps allowed-tools, in every written form', () => {
    for (const written of [
      ['allowed-tools: Read'],
      ['allowed-tools: "Read"'],
      ['allowed-tools:', '  - Read'],
    ]) {
      const { metadata } = read(fileOf('name: demo', 'description: Use when: x', ...written), 'lenient');
      expect(metadata?.allowedTools).toEqual(['Read']);
    }
  });

  test('a tool with a colon is repaired as a whole', () => {
    const { metadata } = read(demoWith('allowed-tools: Bash(echo "a: b") Read'), 'lenient');
    expect(metadata?.allowedTools).toEqual(['Bash(echo "a: b")', 'Read']);
  });
});
