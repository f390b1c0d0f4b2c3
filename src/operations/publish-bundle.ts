import { SkillError } from '../core/errors.ts';
import type { Finding } from '../core/errors.ts';
import type { ValidationMode } from '../core/format/skill-document.ts';
import type { BundleId, Digest, UploadId } from '../core/ids.ts';
import type { BundleContent } from '../core/manifest/build.ts';
import { advanceManifest, buildRevision, contentDigest, wasPublished } from '../core/manifest/build.ts';
import type { BundleIndex, Manifest, Revision } from '../core/manifest/manifest.ts';
import { bundleIndexSchema, manifestSchema, skillFilesSchema } from '../core/manifest/manifest.ts';
import {
  bundleIndexKey,
  fileKey,
  manifestKey,
  revisionKey,
  skillFilesKey,
} from '../core/manifest/object-keys.ts';
import type { SkillTree } from '../sources/skill-tree.ts';
import { jsonBytes, parseJson } from '../storage/json.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import { mustGet } from '../storage/object-store.ts';
import { readRevision } from './read-revision.ts';
import type { ContentSink, Progress } from '../sources/index-tree.ts';
import { indexTree } from '../sources/index-tree.ts';

export interface PublishInput {
  readonly bundle: BundleId;
  /** Or how to get it, once it is known to be needed. */
  readonly tree: SkillTree | (() => Promise<SkillTree>);
  readonly mode: ValidationMode;
  readonly publishedBy: string;
  readonly dryRun?: boolean;
  /** Checked against the current manifest, so that a publisher cannot overwrite what it did not see. */
  readonly precondition?: (current: Manifest | undefined) => boolean;
  readonly onProgress?: (progress: Progress) => void;
  /** The upload whose archive this is: published once, however often it is tried, and never over what was begun later. */
  readonly upload?: {
    readonly id: UploadId;
    readonly begunAt: string;
    /** The bundle's state when it was begun. */
    readonly generation: number;
    readonly asOf: string | undefined;
  };
  readonly now: () => Date;
}

export interface PublishOutcome {
  readonly outcome: 'published' | 'unchanged' | 'validated';
  readonly bundle: BundleId;
  /** Undefined for a dry run of a new bundle. */
  readonly revision: number | undefined;
  readonly generation: number | undefined;
  readonly digest: Digest;
  readonly mode: ValidationMode;
  readonly skills: number;
  readonly files: number;
  readonly bytes: number;
  /** What had to be written; the rest was there already. */
  readonly uploaded: { readonly files: number; readonly bytes: number };
  readonly findings: readonly Finding[];
}

/** Races lost in a row before a publisher gives up; each loss means that somebody else got through. */
const ATTEMPTS = 50;

/**
 * Publishes a tree as a bundle's next revision, atomically (D5): files first under their digests, then the revision,
 * then the announcement in the index, last the manifest by compare-and-swap. A crash at any point leaves the old state
 * served, and running it again converges. A lost race is read again and applied again. Unchanged content makes
 * no revision and no generation: only the time is noted, so that what was begun before does not come over it.
 *
 * @param objects bound to the tenant
 * @throws SkillError with findings (nothing changed), revision_conflict when the precondition fails, or when the
 *   bundle has moved on since the upload was begun
 */
export async function publishBundle(objects: ObjectStore, input: PublishInput): Promise<PublishOutcome> {
  let current = await readManifest(objects, input.bundle);
  const before = await publishedByUpload(objects, input, current?.manifest);
  if (before !== undefined) return before;
  checkPrecondition(input, current);
  checkOrder(input, current?.manifest);
  const tree = typeof input.tree === 'function' ? await input.tree() : input.tree;
  const uploaded = { files: 0, bytes: 0 };
  const sink = input.dryRun === true ? undefined : await uploader(objects, current?.manifest, uploaded);
  const content = await indexTree(tree, {
    bundle: input.bundle,
    mode: input.mode,
    ...(sink === undefined ? {} : { sink }),
    ...(input.onProgress === undefined ? {} : { onProgress: input.onProgress }),
  });
  const summary = summarize(content, uploaded);
  if (input.dryRun === true) {
    const { revision, generation } = current?.manifest ?? {};
    return { ...summary, outcome: 'validated', revision, generation };
  }
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    if (current?.manifest.digest === summary.digest) {
      const { revision, generation } = current.manifest;
      const asOf = input.upload?.begunAt ?? input.now().toISOString();
      if (await confirm(objects, current, asOf)) {
        return { ...summary, outcome: 'unchanged', revision, generation };
      }
    } else {
      const published = {
        at: input.now().toISOString(),
        by: input.publishedBy,
        ...(input.upload === undefined ? {} : { asOf: input.upload.begunAt, upload: input.upload.id }),
      };
      const revision = await putRevision(objects, content, current?.manifest, published);
      const manifest = advanceManifest(current?.manifest, revision, published);
      if (await swapManifest(objects, manifest, current?.etag)) {
        return {
          ...summary,
          outcome: 'published',
          revision: revision.revision,
          generation: manifest.generation,
        };
      }
    }
    current = await readManifest(objects, input.bundle);
    const twin = await publishedByUpload(objects, input, current?.manifest);
    if (twin !== undefined) return twin;
    checkPrecondition(input, current);
    checkOrder(input, current?.manifest);
  }
  throw new SkillError('unavailable', { detail: `Too many publishers of ${input.bundle} at once.` });
}

/**
 * What an upload has published already: an event may come again, and the function that published may have died before
 * it could say so. Undefined when it has not.
 */
async function publishedByUpload(
  objects: ObjectStore,
  input: PublishInput,
  current: Manifest | undefined,
): Promise<PublishOutcome | undefined> {
  const note =
    input.upload &&
    current?.history.find((one) => one.upload !== undefined && one.upload === input.upload?.id);
  if (note === undefined || current === undefined) return undefined;
  const revision = await readRevision(objects, input.bundle, note.revision);
  if (revision === undefined)
    throw new Error(`The bucket lost revision ${note.revision} of ${input.bundle}.`);
  return {
    ...summarize(revision, { files: 0, bytes: 0 }),
    outcome: 'published',
    revision: note.revision,
    generation: current.generation,
  };
}

/** Events come in any order: what was begun earlier must not replace what was begun later. */
function checkOrder(input: PublishInput, current: Manifest | undefined): void {
  if (input.upload === undefined || current === undefined) return;
  // Clocks differ by a little; a state that is still the same cannot.
  if (current.generation === input.upload.generation && current.as_of === input.upload.asOf) return;
  const asOf = current.as_of ?? current.published_at;
  if (Date.parse(input.upload.begunAt) >= Date.parse(asOf)) return;
  throw new SkillError('revision_conflict', {
    detail: `Bundle "${input.bundle}" was published again (revision ${current.revision}) after this upload was begun; this one was not published.`,
  });
}

export interface RollbackInput {
  readonly bundle: BundleId;
  readonly revision: number;
  readonly publishedBy: string;
  readonly precondition?: (current: Manifest | undefined) => boolean;
  readonly now: () => Date;
}

/**
 * Points a bundle at one of its revisions again; the generation rises, the revision keeps its number.
 *
 * @throws SkillError not_found for a bundle or revision that never was
 */
export async function rollbackBundle(objects: ObjectStore, input: RollbackInput): Promise<Manifest> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const current = await readManifest(objects, input.bundle);
    if (current === undefined)
      throw new SkillError('not_found', { detail: `There is no bundle "${input.bundle}".` });
    checkPrecondition(input, current);
    const at = input.now().toISOString();
    if (current.manifest.revision === input.revision) {
      if (await confirm(objects, current, at)) return current.manifest;
      continue;
    }
    const revision = await readRevision(objects, input.bundle, input.revision);
    if (revision === undefined || !wasPublished(current.manifest, input.revision)) {
      throw new SkillError('not_found', {
        detail: `Bundle "${input.bundle}" has no revision ${input.revision}.`,
      });
    }
    const published = { at, by: input.publishedBy };
    const manifest = advanceManifest(current.manifest, revision, published);
    if (await swapManifest(objects, manifest, current.etag)) return manifest;
  }
  throw new SkillError('unavailable', { detail: `Too many publishers of ${input.bundle} at once.` });
}

/**
 * Somebody wanted what is served already: it counts from now, for the order of uploads (checkOrder). Readers need not
 * know, so nothing is announced. False when the race is lost.
 */
async function confirm(objects: ObjectStore, { manifest, etag }: Current, asOf: string): Promise<boolean> {
  if (Date.parse(asOf) <= Date.parse(manifest.as_of ?? manifest.published_at)) return true;
  const confirmed = jsonBytes({ ...manifest, as_of: asOf });
  return (await objects.put(manifestKey(manifest.bundle), confirmed, { matches: etag })) !== 'stale';
}

function checkPrecondition(
  input: { readonly bundle: BundleId; readonly precondition?: (current: Manifest | undefined) => boolean },
  current: { readonly manifest: Manifest } | undefined,
): void {
  if (input.precondition === undefined || input.precondition(current?.manifest)) return;
  throw new SkillError('revision_conflict', {
    detail: `Bundle "${input.bundle}" is not in the state that the precondition names.`,
    kind: 'precondition',
  });
}

interface Current {
  readonly manifest: Manifest;
  readonly etag: string;
}

/** A bundle's manifest as it is now, not as a cache knows it. */
export async function readManifest(objects: ObjectStore, bundle: BundleId): Promise<Current | undefined> {
  const found = await objects.get(manifestKey(bundle));
  if (found === undefined || found === 'unmodified') return undefined;
  return { manifest: manifestSchema.parse(parseJson(found.bytes)), etag: found.etag };
}

/** Uploads what the current revision does not have. Content-addressed: what is there already is right. */
async function uploader(
  objects: ObjectStore,
  current: Manifest | undefined,
  uploaded: { files: number; bytes: number },
): Promise<ContentSink> {
  const known = new Set<Digest>();
  for (const entry of current?.skills ?? []) {
    known.add(entry.digest);
    const files =
      entry.files ??
      skillFilesSchema.parse(parseJson((await mustGet(objects, skillFilesKey(entry.digest))).bytes)).files;
    for (const file of files) known.add(file.digest);
  }
  return {
    async file(digest, bytes) {
      if (known.has(digest)) return;
      if ((await objects.put(fileKey(digest), bytes, 'absent')) === 'stale') return;
      uploaded.files += 1;
      uploaded.bytes += bytes.length;
    },
    async skillFiles(digest, bytes) {
      if (!known.has(digest)) await objects.put(skillFilesKey(digest), bytes, 'absent');
    },
  };
}

/**
 * Writes the revision under the next free number. A number may be taken by a publisher that crashed or is about to
 * lose: its revision is never rewritten, only passed over, or used when it is just the same content.
 */
async function putRevision(
  objects: ObjectStore,
  content: BundleContent,
  current: Manifest | undefined,
  published: { readonly at: string; readonly by: string },
): Promise<Revision> {
  for (let number = (current?.latest_revision ?? 0) + 1; ; number += 1) {
    const revision = buildRevision(content, number, published);
    const outcome = await objects.put(revisionKey(content.bundle, number), jsonBytes(revision), 'absent');
    if (outcome !== 'stale') return revision;
    const there = await readRevision(objects, content.bundle, number);
    if (there?.digest === revision.digest) return there;
  }
}

/** Announces the generation, then swaps the manifest; false when the race is lost. */
async function swapManifest(
  objects: ObjectStore,
  manifest: Manifest,
  replaces: string | undefined,
): Promise<boolean> {
  await announce(objects, manifest.bundle, manifest.generation);
  const condition = replaces === undefined ? 'absent' : { matches: replaces };
  return (await objects.put(manifestKey(manifest.bundle), jsonBytes(manifest), condition)) !== 'stale';
}

/** Raises the bundle's announced generation in the tenant's index, so that every reader looks at its manifest. */
async function announce(objects: ObjectStore, bundle: BundleId, generation: number): Promise<void> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const found = await objects.get(bundleIndexKey);
    const stored = found === undefined || found === 'unmodified' ? undefined : found;
    const index: BundleIndex =
      stored === undefined ? { schema: 1, bundles: {} } : bundleIndexSchema.parse(parseJson(stored.bytes));
    if ((index.bundles[bundle]?.announced ?? 0) >= generation) return;
    const next: BundleIndex = {
      schema: 1,
      bundles: { ...index.bundles, [bundle]: { announced: generation } },
    };
    const condition = stored === undefined ? 'absent' : { matches: stored.etag };
    if ((await objects.put(bundleIndexKey, jsonBytes(next), condition)) !== 'stale') return;
  }
  throw new SkillError('unavailable', { detail: 'Too many publishers at once.' });
}

function summarize(
  content: BundleContent,
  uploaded: { files: number; bytes: number },
): Omit<PublishOutcome, 'outcome' | 'revision' | 'generation'> {
  return {
    bundle: content.bundle,
    digest: contentDigest(content),
    mode: content.mode,
    skills: content.skills.length,
    files: content.skills.reduce((sum, skill) => sum + skill.file_count, 0),
    bytes: content.skills.reduce((sum, skill) => sum + skill.total_bytes, 0),
    uploaded,
    findings: content.findings,
  };
}
