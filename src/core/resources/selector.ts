import { SkillError } from '../errors.ts';
import { SKILL_FILE_NAME } from '../format/rules.ts';
import { show } from '../ids.ts';
import type { ResourceEntry } from './listing.ts';

/**
 * Finds the listed entry for a `relative_path` (J19, J20). Only what is listed byte for byte can be loaded; for
 * anything else the refusal says what is wrong with it.
 *
 * @throws SkillError skill_md_not_a_resource, invalid_resource_path, resource_not_listed
 */
export function selectResource(
  entries: readonly ResourceEntry[],
  relativePath: string,
  skillMdPath: string,
): ResourceEntry {
  const listed = entries.find((entry) => entry.relative_path === relativePath);
  if (listed !== undefined) return listed;
  if (relativePath === skillMdPath || relativePath.toLowerCase() === SKILL_FILE_NAME.toLowerCase()) {
    throw new SkillError('skill_md_not_a_resource');
  }
  const problem = pathProblem(relativePath) ?? pathProblem(decoded(relativePath));
  if (problem !== undefined) {
    throw new SkillError('invalid_resource_path', { detail: `${show(relativePath)} ${problem}.` });
  }
  throw new SkillError('resource_not_listed', {
    detail: `${show(relativePath)} is not in the listing that this session was given.`,
  });
}

/** Why a path cannot be a file inside a skill or archive; undefined when it can. */
export function pathProblem(path: string): string | undefined {
  if (path === '') return 'is empty';
  // eslint-disable-next-line no-control-regex -- control characters are just what this looks for
  if (/[\u0000-\u001f\u007f]/.test(path)) return 'holds a control character';
  if (!path.isWellFormed()) return 'is not well-formed Unicode';
  if (path.includes('\\')) return 'holds a backslash';
  if (path.startsWith('/') || /^[A-Za-z]:/.test(path)) return 'is absolute';
  if (path.split('/').includes('..')) return 'leads out of the skill';
  if (path.split('/').some((part) => part === '' || part === '.')) return 'has an empty or `.` segment';
  return undefined;
}

/** Percent-encoding taken away until nothing changes, so that no depth of it hides a traversal. */
function decoded(path: string): string {
  let text = path;
  for (let round = 0; round < 5; round += 1) {
    const next = text.replaceAll(/%[0-9a-fA-F]{2}/g, (hex) =>
      String.fromCharCode(parseInt(hex.slice(1), 16)),
    );
    if (next === text) break;
    text = next;
  }
  return text;
}
