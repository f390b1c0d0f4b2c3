import { expect } from 'vitest';
import { readArchive } from '../../src/archives/read-archive.ts';
import { SkillError, type ErrorCode } from '../../src/core/errors.ts';
import { ARCHIVE_LIMITS, type ArchiveLimits } from '../../src/core/limits.ts';

/** Path and text of every file, of an archive that must be accepted. */
export async function textsOf(
  bytes: Uint8Array,
  limits?: Partial<ArchiveLimits>,
): Promise<Record<string, string>> {
  const files = await readArchive(bytes, { ...ARCHIVE_LIMITS, ...limits });
  return Object.fromEntries(files.map((file) => [file.path, new TextDecoder().decode(file.bytes)]));
}

/** The archive must be refused with this code, and a detail that holds all of `words`. */
export async function expectRefusal(
  bytes: Uint8Array,
  code: ErrorCode,
  words: readonly string[],
  limits?: Partial<ArchiveLimits>,
): Promise<void> {
  const outcome: unknown = await readArchive(bytes, { ...ARCHIVE_LIMITS, ...limits }).catch(
    (error: unknown) => error,
  );
  expect(outcome).toBeInstanceOf(SkillError);
  if (!(outcome instanceof SkillError)) return;
  expect({ code: outcome.code, detail: outcome.message }).toEqual({ code, detail: outcome.message });
  for (const word of words) expect(outcome.message).toContain(word);
}
