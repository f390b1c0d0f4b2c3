import { describe, expect, test } from 'vitest';
import { estimateTokens, tokenLimit, withinTokens } from '../../../src/core/catalog/tokens.ts';
import { SkillError } from '../../../src/core/errors.ts';

describe('[N7] token budgets', () => {
  test.each([
    ['', 0],
    ['a', 1],
    ['abcd', 1],
    ['abcde', 2],
    ['漢', 1],
    ['漢字', 2],
    ['🦆', 1],
    ['🦆a', 2],
  ])('[N7] the estimate of %j is a quarter of its bytes, rounded up: %i', (text, tokens) => {
    expect(estimateTokens(text)).toBe(tokens);
  });

  test('[N7] text within the limit stays as it is', () => {
    expect(withinTokens('abcd', 1)).toEqual({ text: 'abcd', truncated: false, estimated_tokens: 1 });
    expect(withinTokens('', 1)).toEqual({ text: '', truncated: false, estimated_tokens: 0 });
  });

  test.each([
    'abcdefgh',
    '🦆🦆🦆🦆',
    'a🦆b漢c🦆',
    '漢字漢字漢字',
    'ééééééé',
    '\u{10ffff}x\u{7ff}y\u{ffff}z',
    'e\u0301'.repeat(9),
  ])('[N7] a cut of %j is a beginning of it, whole characters, within every limit', (text) => {
    for (let limit = 1; limit <= estimateTokens(text); limit += 1) {
      const cut = withinTokens(text, limit);
      expect(text.startsWith(cut.text)).toBe(true);
      expect(cut.text.isWellFormed()).toBe(true);
      expect(cut.text).not.toContain('\ufffd');
      expect(Buffer.byteLength(cut.text)).toBeLessThanOrEqual(limit * 4);
      expect(Buffer.byteLength(cut.text), 'no more is cut than a character').toBeGreaterThan(
        Math.min(limit * 4, Buffer.byteLength(text)) - 4,
      );
      expect(cut.truncated).toBe(cut.text !== text);
      expect(cut.estimated_tokens).toBe(estimateTokens(cut.text));
    }
  });

  test('[N7] lines are not counted', () => {
    const text = '\n'.repeat(40_000);
    expect(withinTokens(text, 10_000)).toEqual({ text, truncated: false, estimated_tokens: 10_000 });
  });

  test('[N7] one long line is cut by bytes alone', () => {
    expect(withinTokens('x'.repeat(100_001), 25_000).text).toBe('x'.repeat(100_000));
  });

  test.each([1, 10_000, 100_000])('[N7] %i is a limit', (value) => {
    expect(tokenLimit(value)).toBe(value);
  });

  test.each([
    0,
    -1,
    1.5,
    100_001,
    Number.NaN,
    Infinity,
    true,
    false,
    '100',
    '',
    null,
    undefined,
    10n,
    [1],
    {},
  ])('[N7] %s is none', (value) => {
    expect(() => tokenLimit(value, 'limit')).toThrow(SkillError);
    expect(() => tokenLimit(value, 'limit')).toThrow(expect.objectContaining({ code: 'invalid_request' }));
  });
});
