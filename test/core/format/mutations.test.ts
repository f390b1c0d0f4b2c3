import { describe, expect, test } from 'vitest';
import { parseSkill } from '../../../src/core/format/skill-document.ts';
import type { ValidationMode } from '../../../src/core/format/skill-document.ts';
import { encodeUtf8 } from '../../../src/core/format/utf8.ts';

/** mulberry32: small, seeded, the same everywhere. */
function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

const LINE = 'allowed-tools: Read';
const VALID = `---
name: demo
description: Draws charts. Use when a chart is asked for.
license: MIT
${LINE}
metadata:
  skillbucket.tags: charts, drawing
  acme.owner: "team a"
compatibility: >-
  Needs a
  screen
---
# Demo

Body
`;

const PIECES = [
  ...[
    '---',
    '--- ',
    '--- x',
    '...',
    '\n',
    '\r',
    '\t',
    ' ',
    '  ',
    ':',
    ': ',
    ' #',
    '#',
    '- ',
    '? ',
    '|',
    '>',
    '|\n',
  ],
  ...[
    '"',
    "'",
    '[',
    ']',
    '{',
    '}',
    '&a ',
    '*a',
    '!x ',
    '%',
    '@',
    '`',
    ',',
    '\\',
    '\u0000',
    '\ufeff',
    '\u2028',
    '🦆',
  ],
  ...[
    'name: x\n',
    'description: Use when: y\n',
    `${LINE}\n`,
    'allowed-tools: Bash\n',
    '<<: *a\n',
    '__proto__: {}\n',
  ],
];

function mutate(text: string, random: (below: number) => number): string {
  let result = text;
  for (let count = 1 + random(4); count > 0; count -= 1) {
    const at = random(result.length + 1);
    const piece = PIECES[random(PIECES.length)] ?? '';
    const cut = random(3) === 0 ? random(12) : 0;
    result = result.slice(0, at) + (random(4) === 0 ? '' : piece) + result.slice(at + cut);
  }
  return result;
}

const parse = (bytes: Uint8Array, mode: ValidationMode) =>
  parseSkill({ path: 'demo/SKILL.md', fileName: 'SKILL.md', directory: 'demo', bytes }, mode);

/** Whether the line stands by itself at the top level of what is between the fences. */
function hasIntactLine(text: string): boolean {
  const lines = text.replace(/^\ufeff/, '').split('\n');
  const isFence = (line: string) => /^---[ \t\r]*$/.test(line);
  if (!isFence(lines[0] ?? '')) return false;
  const end = lines.findIndex((line, index) => index > 0 && isFence(line));
  return lines.slice(1, Math.max(end, 1)).includes(LINE);
}

describe('A valid SKILL.md with random changes', () => {
  test.each([1, 2, 3, 4])(
    'seed %i: nothing is thrown, and allowed-tools is never lost in silence',
    (seed) => {
      const random = randomOf(seed);
      let intact = 0;
      for (let round = 0; round < 2_000; round += 1) {
        const text = mutate(VALID, random);
        for (const mode of ['strict', 'lenient'] as const) {
          const { metadata, findings } = parse(encodeUtf8(text), mode);
          const refused = findings.some((one) => one.severity === 'error');
          expect(metadata === undefined, text).toBe(refused);
          expect(
            findings.every((one) => one.fix !== ''),
            text,
          ).toBe(true);
          if (!hasIntactLine(text)) continue;
          intact += 1;
          expect(refused || metadata?.allowedTools.includes('Read'), text).toBe(true);
        }
      }
      expect(intact).toBeGreaterThan(500);
    },
  );

  test('strict accepts nothing that lenient refuses, and both then read the same', () => {
    const random = randomOf(7);
    for (let round = 0; round < 2_000; round += 1) {
      const bytes = encodeUtf8(mutate(VALID, random));
      const strict = parse(bytes, 'strict');
      if (strict.metadata === undefined) continue;
      expect(parse(bytes, 'lenient').metadata).toEqual(strict.metadata);
    }
  });

  test('random bytes are refused, never thrown at', () => {
    const random = randomOf(11);
    for (let round = 0; round < 1_000; round += 1) {
      const bytes = Uint8Array.from(encodeUtf8(VALID));
      for (let count = 1 + random(8); count > 0; count -= 1) bytes[random(bytes.length)] = random(256);
      const { metadata, findings } = parse(bytes, 'lenient');
      expect(metadata === undefined).toBe(findings.some((one) => one.severity === 'error'));
    }
  });
});
