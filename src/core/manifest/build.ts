import { canonicalJson } from '../canonical-json.ts';
import { sha256 } from '../digests.ts';
import type { Finding } from '../errors.ts';
import { finding } from '../errors.ts';
import type { SkillMetadata, ValidationMode } from '../format/skill-document.ts';
import { encodeUtf8 } from '../format/utf8.ts';
import type { BundleId, Digest, UploadId } from '../ids.ts';
import { LARGE_SKILL_BYTES, LARGE_SKILL_FILES, MAX_INLINE_FILES, MAX_REVISION_HISTORY } from '../limits.ts';
import type { FileEntry, Manifest, Revision, RevisionNote, SkillEntry, SkillFiles } from './manifest.ts';

export interface BuiltSkill {
  readonly entry: SkillEntry;
  /** The bytes of `skills/{sha256}.json`; their digest is the skill's. */
  readonly filesDocument: Uint8Array;
  readonly findings: readonly Finding[];
}

/** One skill's manifest entry and file list. The digest covers every path, byte and mode of it. */
export function buildSkill(
  metadata: SkillMetadata,
  place: { readonly directory: string; readonly skillMd: string },
  files: readonly FileEntry[],
): BuiltSkill {
  const document: SkillFiles = { schema: 1, files: [...files] };
  const filesDocument = encodeUtf8(canonicalJson(document));
  const skillMd = files.find((file) => file.path === place.skillMd);
  if (skillMd === undefined) throw new TypeError(`${place.directory} has no ${place.skillMd}`);
  const totalBytes = files.reduce((sum, file) => sum + file.size, 0);
  const entry: SkillEntry = {
    name: metadata.name,
    description: metadata.description,
    directory: place.directory,
    frontmatter: metadata.frontmatter,
    ...(metadata.license === undefined ? {} : { license: metadata.license }),
    ...(metadata.compatibility === undefined ? {} : { compatibility: metadata.compatibility }),
    metadata: metadata.metadata,
    allowed_tools: [...metadata.allowedTools],
    tags: [...metadata.tags],
    ...(metadata.version === undefined ? {} : { version: metadata.version }),
    ...(metadata.disableModelInvocation ? { disable_model_invocation: true } : {}),
    digest: sha256(filesDocument),
    skill_md: { path: skillMd.path, digest: skillMd.digest, size: skillMd.size },
    file_count: files.length,
    total_bytes: totalBytes,
    ...(files.length <= MAX_INLINE_FILES ? { files: [...files] } : {}),
  };
  return { entry, filesDocument, findings: sizeFindings(place, files.length, totalBytes) };
}

function sizeFindings(
  place: { readonly directory: string; readonly skillMd: string },
  files: number,
  bytes: number,
): Finding[] {
  if (files <= LARGE_SKILL_FILES && bytes <= LARGE_SKILL_BYTES) return [];
  const message = `${place.directory} has ${files} files and ${bytes} bytes; agent hosts need not load more than ${LARGE_SKILL_FILES} files or ${LARGE_SKILL_BYTES} bytes.`;
  const file = place.directory === '.' ? place.skillMd : `${place.directory}/${place.skillMd}`;
  return [finding('warning', 'large_skill', message, { file })];
}

/** What a bundle holds, before it has a number. */
export interface BundleContent {
  readonly bundle: BundleId;
  readonly mode: ValidationMode;
  /** In name order. */
  readonly skills: readonly SkillEntry[];
  readonly findings: readonly Finding[];
}

/** Equal for equal skills validated in the same mode, whenever and by whomever they are published. */
export function contentDigest(content: BundleContent): Digest {
  const skills = content.skills.map(({ name, directory, digest }) => ({ name, directory, digest }));
  return sha256(canonicalJson({ mode: content.mode, skills }));
}

export function buildRevision(
  content: BundleContent,
  revision: number,
  published: { readonly at: string; readonly by: string },
): Revision {
  return {
    schema: 1,
    bundle: content.bundle,
    revision,
    digest: contentDigest(content),
    mode: content.mode,
    published_at: published.at,
    published_by: published.by,
    skills: [...content.skills],
    findings: [...content.findings],
  };
}

/** Who made a revision current, and when. */
export interface Publication {
  readonly at: string;
  readonly by: string;
  /** When it was begun; `at` unless it is an upload's. */
  readonly asOf?: string;
  readonly upload?: UploadId;
}

/** The manifest that makes a revision current; `before` is what it replaces. */
export function advanceManifest(
  before: Manifest | undefined,
  revision: Revision,
  published: Publication,
): Manifest {
  const known = before?.history.find((one) => one.revision === revision.revision);
  const upload = published.upload ?? known?.upload;
  const note: RevisionNote = {
    revision: revision.revision,
    digest: revision.digest,
    mode: revision.mode,
    published_at: revision.published_at,
    published_by: revision.published_by,
    skill_count: revision.skills.length,
    warning_count: revision.findings.filter((one) => one.severity === 'warning').length,
    ...(upload === undefined ? {} : { upload }),
  };
  const older = (before?.history ?? []).filter((one) => one.revision !== note.revision);
  const history = [note, ...older].sort((a, b) => b.revision - a.revision).slice(0, MAX_REVISION_HISTORY);
  return {
    ...revision,
    published_at: published.at,
    published_by: published.by,
    generation: (before?.generation ?? 0) + 1,
    as_of: published.asOf ?? published.at,
    latest_revision: Math.max(before?.latest_revision ?? 0, revision.revision),
    history,
  };
}

/**
 * Whether a revision was ever the bundle's current one. A publisher that was refused at the last moment leaves one that
 * was not; beyond the history that is not known any more, and such a revision counts as published.
 */
export function wasPublished(manifest: Manifest, revision: number): boolean {
  if (revision > manifest.latest_revision) return false;
  if (manifest.history.some((one) => one.revision === revision)) return true;
  return (
    manifest.history.length === MAX_REVISION_HISTORY && revision < (manifest.history.at(-1)?.revision ?? 0)
  );
}
