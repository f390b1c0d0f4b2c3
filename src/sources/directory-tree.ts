import type { Stats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import path from 'node:path';
import type { Finding } from '../core/errors.ts';
import { finding, SkillError } from '../core/errors.ts';
import { show } from '../core/ids.ts';
import type { ValidationMode } from '../core/format/rules.ts';
import { MAX_PUBLISH_DIRECTORIES, MAX_PUBLISHED_FILE_BYTES } from '../core/limits.ts';
import { isSkillMd, reasonToLeaveOut } from '../core/manifest/plan.ts';
import { isSystemError, listDirectory, readRegularFile, stateOf } from './file-system.ts';
import type { SkillTree, TreeFile } from './skill-tree.ts';
import { changedMeanwhile } from './skill-tree.ts';

/**
 * Everything below a directory, for publishing. Links are never followed: strict refuses them, lenient leaves them out
 * with a warning. What cannot be read is an error in both modes, since publishing without it would drop it silently.
 *
 * @throws SkillError unreadable (the directory itself), discovery_limit_exceeded
 */
export async function directoryTree(directory: string, mode: ValidationMode): Promise<SkillTree> {
  const root = path.resolve(directory);
  const files: TreeFile[] = [];
  const findings: Finding[] = [];
  const linked = new Map<string, string[]>();
  let visited = 0;

  async function visit(relative: string): Promise<void> {
    visited += 1;
    if (visited > MAX_PUBLISH_DIRECTORIES) {
      throw new SkillError('discovery_limit_exceeded', {
        detail: `${root} has more than ${MAX_PUBLISH_DIRECTORIES} directories.`,
        facts: { path: root, limit: MAX_PUBLISH_DIRECTORIES },
      });
    }
    const entries = await listDirectory(path.join(root, relative));
    if (typeof entries === 'string') {
      if (relative === '') throw new SkillError('unreadable', { detail: `${root} is ${entries}.` });
      findings.push(finding('error', 'unreadable', `${relative} is ${entries}.`, { file: relative }));
      return;
    }
    for (const entry of entries) {
      const inside = relative === '' ? entry.name : `${relative}/${entry.name}`;
      const reason = reasonToLeaveOut(inside);
      if (entry.isFile()) {
        await addFile(inside);
      } else if (reason !== undefined) {
        // Also a link by that name, such as the node_modules that some package managers make.
        findings.push(
          finding('info', 'file_left_out', `${inside} was left out: ${reason}.`, { file: inside }),
        );
      } else if (entry.isDirectory()) {
        await visit(inside);
      } else {
        findings.push(notAFile(inside, entry.isSymbolicLink(), mode));
      }
    }
  }

  async function addFile(inside: string): Promise<void> {
    const file = path.join(root, inside);
    let stats: Stats;
    try {
      stats = await lstat(file);
    } catch (error) {
      // Gone since it was listed, or named in bytes that are no text.
      if (!isSystemError(error)) throw error;
      const message = `${show(inside)} cannot be read (${error.code}).`;
      findings.push(finding('error', 'unreadable', message, { file: inside }));
      return;
    }
    if (stats.nlink > 1) {
      const identity = `${stats.dev}:${stats.ino}`;
      linked.set(identity, [...(linked.get(identity) ?? []), inside]);
    }
    files.push({
      path: inside,
      size: stats.size,
      mode: (stats.mode & 0o100) === 0 ? 0o644 : 0o755,
      read: async () => {
        const { bytes, state } = await readRegularFile(file, { maxBytes: MAX_PUBLISHED_FILE_BYTES });
        if (state !== stateOf(stats)) throw changedMeanwhile(inside);
        return bytes;
      },
    });
  }

  await visit('');
  return { rootName: path.basename(root), files, findings: [...findings, ...aliasesOfSkillMd(linked)] };
}

/** A second name of a SKILL.md would be a way around the rule that SKILL.md is not a resource (J20). */
function aliasesOfSkillMd(linked: ReadonlyMap<string, readonly string[]>): readonly Finding[] {
  return [...linked.values()].flatMap((paths) => {
    const original = paths.find(isSkillMd);
    if (original === undefined) return [];
    return paths
      .filter((one) => one !== original)
      .map((alias) =>
        finding('error', 'hard_link_refused', `${alias} is a hard link of ${original}.`, { file: alias }),
      );
  });
}

function notAFile(inside: string, isLink: boolean, mode: ValidationMode): Finding {
  const severity = mode === 'strict' ? 'error' : 'warning';
  const outcome = mode === 'strict' ? '' : ' and was left out';
  return isLink
    ? finding(severity, 'symlink_refused', `${inside} is a symbolic link${outcome}.`, { file: inside })
    : finding(severity, 'file_left_out', `${inside} is not a regular file${outcome}.`, {
        file: inside,
        fix: 'Remove it from the folder.',
      });
}
