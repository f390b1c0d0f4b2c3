import type { Finding } from '../core/errors.ts';

/** A folder of skills that can be published: a directory, or an unpacked archive. */
export interface TreeFile {
  /** Relative to the tree, with `/`. */
  readonly path: string;
  readonly size: number;
  readonly mode: 0o644 | 0o755;
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
