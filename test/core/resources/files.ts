import { sha256 } from '../../../src/core/digests.ts';
import type { FileEntry } from '../../../src/core/manifest/manifest.ts';

/** A file of a skill, as its list in the bucket holds it. */
export function fileEntry(path: string, size = 10): FileEntry {
  return { path, size, digest: sha256(path), mode: 0o644, mime_type: 'text/markdown' };
}

/** A skill's files in path order, its SKILL.md among them. */
export function filesOf(...paths: string[]): FileEntry[] {
  return [...paths, 'SKILL.md'].sort((a, b) => (a < b ? -1 : 1)).map((path) => fileEntry(path));
}
