import { sha256 } from './digests.ts';
import { SkillError } from './errors.ts';

/**
 * A cursor names the last thing that was seen and is bound to what was asked, tenant included, so that it goes on with
 * nothing else. It is no secret and no proof: whatever reads a position out of one checks it.
 */
export function encodeCursor(query: unknown, position: string): string {
  return Buffer.from(`${bindingOf(query)} ${position}`, 'utf8').toString('base64url');
}

/** @throws SkillError invalid_request for a cursor of another tenant or query */
export function readCursor(
  query: unknown,
  cursor: string,
  isPosition: (position: string) => boolean = () => true,
): string {
  const [bound, ...rest] = Buffer.from(cursor, 'base64url').toString('utf8').split(' ');
  const position = rest.join(' ');
  if (bound === bindingOf(query) && rest.length > 0 && isPosition(position)) return position;
  throw new SkillError('invalid_request', {
    detail: 'cursor is not of this query; start again without it.',
    facts: { parameter: 'cursor' },
  });
}

const bindingOf = (query: unknown): string => sha256(JSON.stringify(query)).slice(7, 23);
