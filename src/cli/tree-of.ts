import { lstat } from 'node:fs/promises';
import path from 'node:path';
import { readArchive } from '../archives/read-archive.ts';
import { SkillError } from '../core/errors.ts';
import type { ValidationMode } from '../core/format/skill-document.ts';
import { ARCHIVE_LIMITS } from '../core/limits.ts';
import { isSkillMd } from '../core/manifest/plan.ts';
import { directoryTree } from '../sources/directory-tree.ts';
import type { SkillTree } from '../sources/skill-tree.ts';
import { memoryTree } from '../sources/skill-tree.ts';
import { isSystemError, readRegularFile } from '../sources/file-system.ts';

/** What a person points at: a folder of skills, one skill's folder, its SKILL.md, or a zip or tar.gz. */
export async function treeOf(given: string, mode: ValidationMode): Promise<SkillTree> {
  const stats = await lstat(given).catch((error: unknown) => {
    if (isSystemError(error))
      throw new SkillError('unreadable', { detail: `${given} cannot be read (${error.code}).` });
    throw error;
  });
  if (stats.isDirectory()) return directoryTree(given, mode);
  if (isSkillMd(path.basename(given))) return directoryTree(path.dirname(path.resolve(given)), mode);
  if (!stats.isFile()) throw new SkillError('unreadable', { detail: `${given} is not a folder or a file.` });
  if (stats.size > ARCHIVE_LIMITS.maxPackedBytes) {
    throw new SkillError('archive_too_large', {
      detail: `${given} has ${stats.size} bytes; an archive may have ${ARCHIVE_LIMITS.maxPackedBytes}.`,
    });
  }
  const { bytes } = await readRegularFile(given, { maxBytes: ARCHIVE_LIMITS.maxPackedBytes });
  return memoryTree(await readArchive(bytes, ARCHIVE_LIMITS));
}
