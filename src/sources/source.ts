import type { RootRef, RootSnapshot } from '../core/catalog/catalog.ts';
import type { Digest } from '../core/ids.ts';
import type { FileEntry } from '../core/manifest/manifest.ts';

/** Where skills come from. Content is named by digest, so what a session has pinned can be read after a change. */
export interface SkillSource {
  readonly root: RootRef;
  /** The complete current state; metadata only, no body (J2). Equal states are the same object. */
  discover(): Promise<RootSnapshot | undefined>;
  /** A skill's complete file list, by the skill's digest. */
  files(skill: Digest): Promise<readonly FileEntry[]>;
  /** A file's bytes, checked against the digest. @throws SkillError skill_changed when they are gone for good */
  read(file: Digest): Promise<Uint8Array>;
  /** A URL from which a client gets the bytes for a while without us; not every source has such. */
  link?(file: Digest, filename: string): Promise<string>;
}
