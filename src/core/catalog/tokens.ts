import { SkillError } from '../errors.ts';
import { decodeUtf8, encodeUtf8, utf8Length } from '../format/utf8.ts';
import { MAX_TOKEN_LIMIT } from '../limits.ts';

/** ceil(UTF-8 bytes / 4): the same everywhere, and no model's tokenizer (N7). */
export function estimateTokens(text: string): number {
  return Math.ceil(utf8Length(text) / 4);
}

export interface Budgeted {
  readonly text: string;
  readonly truncated: boolean;
  readonly estimated_tokens: number;
}

/** Cuts text to a budget of estimated tokens, at a character and not inside one; there is no line cap (N7). */
export function withinTokens(text: string, limit: number): Budgeted {
  if (utf8Length(text) <= limit * 4)
    return { text, truncated: false, estimated_tokens: estimateTokens(text) };
  const bytes = encodeUtf8(text);
  let end = limit * 4;
  // Step back over continuation bytes, so that the cut falls between characters.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  const kept = decodeUtf8(bytes.subarray(0, end)) ?? '';
  return { text: kept, truncated: true, estimated_tokens: estimateTokens(kept) };
}

/**
 * A token limit from code, configuration or a request: a whole number from 1 to 100,000; booleans are refused (N7).
 *
 * @throws SkillError invalid_request
 */
export function tokenLimit(value: unknown, name = 'max_tokens'): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= MAX_TOKEN_LIMIT)
    return value;
  throw new SkillError('invalid_request', {
    detail: `${name} is a whole number from 1 to ${MAX_TOKEN_LIMIT}; got ${typeof value === 'number' ? value : typeof value}.`,
  });
}
