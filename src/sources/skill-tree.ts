import type { Finding } from '../core/errors.ts';
import { finding, SkillError } from '../core/errors.ts';

/** A folder of skills that can be published: a directory, or an unpacked archive. */
export interface TreeFile {
  /** Relative to the tree, with `/`. */
  readonly path: string;
  readonly size: number;
  readonly mode: 0o644 | 0o755;
  /** @throws SkillError skill_changed when it is no longer the file that was listed */
  read(): Promise<Uint8Array>;
}

export interface SkillTree {
  /** The tree's own directory name; undefined for an archive. */
  readonly rootName: string | undefined;
  readonly files: readonly TreeFile[];
  /** What was met on the way and is not among the files. */
  readonly findings: readonly Finding[];
}

/** A tree of files that are in memory, such as an unpacked archive's. */
export function memoryTree(
  files: readonly { readonly path: string; readonly mode: 0o644 | 0o755; readonly bytes: Uint8Array }[],
): SkillTree {
  return {
    rootName: undefined,
    findings: [],
    files: files.map(({ path, mode, bytes }) => ({
      path,
      mode,
      size: bytes.length,
      read: () => Promise.resolve(bytes),
    })),
  };
}

/** Half of an old state and half of a new one is nobody's skill, so a file that changes ends the work. */
export function changedMeanwhile(file: string): SkillError {
  const message = `${file} changed while it was read.`;
  const fix = 'Nothing was published. Try again when nothing writes to the folder.';
  return new SkillError('skill_changed', {
    detail: message,
    findings: [finding('error', 'skill_changed', message, { file, fix })],
  });
}
