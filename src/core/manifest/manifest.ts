import { ERRORS } from '../errors.ts';
import type { ErrorCode } from '../errors.ts';
import type { BundleId, Digest, SkillName, UploadId } from '../ids.ts';
import { isDigest, isSkillName, isUploadId } from '../ids.ts';
import * as z from '../zod.ts';

/**
 * The documents of the bucket (contract, "In the bucket"). They are parsed when read back: what does not fit is
 * corruption, which is our incident and not a caller's error.
 */
export const digestSchema = z.custom<Digest>((value) => typeof value === 'string' && isDigest(value));
const nameSchema = z.custom<SkillName>((value) => typeof value === 'string' && isSkillName(value));
export const codeSchema = z.custom<ErrorCode>((value) => typeof value === 'string' && value in ERRORS);
export const uploadIdSchema = z.custom<UploadId>((value) => typeof value === 'string' && isUploadId(value));
const count = z.int().check(z.nonnegative());
export const modeSchema = z.enum(['strict', 'lenient']);

export const findingSchema = z.strictObject({
  severity: z.enum(['error', 'warning', 'info']),
  code: codeSchema,
  message: z.string(),
  file: z.exactOptional(z.string()),
  line: z.exactOptional(count),
  fix: z.string(),
});

/** One file of a skill. `mode` is 0o644 or 0o755: whether it may be executed is all that survives packing. */
export const fileEntrySchema = z.strictObject({
  path: z.string().check(z.minLength(1)),
  digest: digestSchema,
  size: count,
  mode: z.union([z.literal(0o644), z.literal(0o755)]),
  mime_type: z.string().check(z.minLength(1)),
});
export type FileEntry = z.infer<typeof fileEntrySchema>;

/** `skills/{sha256}.json`: one skill's complete file list in path order, under the digest of its own bytes. */
export const skillFilesSchema = z.strictObject({ schema: z.literal(1), files: z.array(fileEntrySchema) });
export type SkillFiles = z.infer<typeof skillFilesSchema>;

/** What a catalog needs of a skill; no body. */
export const skillEntrySchema = z.strictObject({
  name: nameSchema,
  description: z.string(),
  /** Where it was in the bundle; `.` when the bundle's root is the skill. */
  directory: z.string(),
  /** The text between the fences, verbatim. */
  frontmatter: z.string(),
  license: z.exactOptional(z.string()),
  compatibility: z.exactOptional(z.string()),
  metadata: z.record(z.string(), z.string()),
  allowed_tools: z.array(z.string()),
  tags: z.array(z.string()),
  version: z.exactOptional(z.string()),
  /** The author's wish that no model loads it by itself. */
  disable_model_invocation: z.exactOptional(z.literal(true)),
  /** Digest of the complete file list, so of every byte of the skill. */
  digest: digestSchema,
  skill_md: z.strictObject({ path: z.string(), digest: digestSchema, size: count }),
  file_count: count,
  total_bytes: count,
  /** The file list itself when it is short; longer ones are in `skills/{sha256}.json` alone. */
  files: z.exactOptional(z.array(fileEntrySchema)),
});
export type SkillEntry = z.infer<typeof skillEntrySchema>;

const content = {
  schema: z.literal(1),
  bundle: z.custom<BundleId>((value) => typeof value === 'string'),
  revision: count,
  /** Digest of the content: skills, their files and the validation mode; not of when or by whom. */
  digest: digestSchema,
  mode: modeSchema,
  published_at: z.string(),
  published_by: z.string(),
  skills: z.array(skillEntrySchema),
  findings: z.array(findingSchema),
};

/** `revisions/{n}.json`: immutable. */
export const revisionSchema = z.strictObject(content);
export type Revision = z.infer<typeof revisionSchema>;

const revisionNoteSchema = z.strictObject({
  revision: count,
  digest: digestSchema,
  mode: modeSchema,
  published_at: z.string(),
  published_by: z.string(),
  skill_count: count,
  warning_count: count,
  /** The upload that published it, so that a repeated event finds its own work done. */
  upload: z.exactOptional(uploadIdSchema),
});
export type RevisionNote = z.infer<typeof revisionNoteSchema>;

/** `manifest.json`: the current revision, replaced only by compare-and-swap. */
export const manifestSchema = z.strictObject({
  ...content,
  /** Rises with every change, rollback included. */
  generation: count,
  /** When what is served now was begun: an upload that was begun earlier comes too late. */
  as_of: z.exactOptional(z.string()),
  /** The highest revision ever made, so that a number is never used twice. */
  latest_revision: count,
  /** Newest first, bounded. */
  history: z.array(revisionNoteSchema),
});
export type Manifest = z.infer<typeof manifestSchema>;

/**
 * `bundles/index.json`: which bundles a tenant has and the generation that each was last announced to reach. It is
 * raised *before* the manifest changes: whoever finds it unchanged knows that no manifest changed.
 */
export const bundleIndexSchema = z.strictObject({
  schema: z.literal(1),
  bundles: z.record(z.string(), z.strictObject({ announced: count })),
});
export type BundleIndex = z.infer<typeof bundleIndexSchema>;
