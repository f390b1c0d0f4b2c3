import { SkillError } from '../core/errors.ts';
import { show } from '../core/ids.ts';

/** The bytes are not a complete archive of a kind that we read. */
export function invalid(detail: string, cause?: unknown): SkillError {
  return new SkillError('archive_invalid', { detail, cause });
}

/** `problem` continues the sentence `Entry "x" …`. */
export function unsafe(entry: string, problem: string): SkillError {
  return new SkillError('archive_unsafe', { detail: `Entry ${show(entry)} ${problem}.` });
}

export function tooLarge(detail: string, limit: number): SkillError {
  return new SkillError('archive_too_large', { detail, facts: { limit } });
}

export function tooManyEntries(counted: string, limit: number): SkillError {
  return tooLarge(`The archive holds ${counted} entries; at most ${limit} are allowed (maxEntries).`, limit);
}

/** yauzl, tar-stream and zlib throw plain Errors about damaged bytes; a subclass, as TypeError, is our own bug. */
export function isLibraryError(error: unknown): error is Error {
  return error instanceof Error && error.constructor === Error;
}
