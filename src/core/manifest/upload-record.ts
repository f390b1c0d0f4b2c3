import type { ErrorKind } from '../errors.ts';
import type { BundleId } from '../ids.ts';
import { codeSchema, digestSchema, findingSchema, modeSchema, uploadIdSchema } from './manifest.ts';
import * as z from '../zod.ts';

const count = z.int().check(z.nonnegative());
const bundle = z.custom<BundleId>((value) => typeof value === 'string');

/** `begun.json`: what was declared when the upload was begun; immutable. */
export const uploadBegunSchema = z.strictObject({
  schema: z.literal(1),
  upload: uploadIdSchema,
  bundle,
  /** Of the archive. */
  size: count,
  sha256: digestSchema,
  mode: modeSchema,
  /** The bundle's generation at that time; 0: there was no such bundle. */
  generation: count,
  /** Since when the bundle had what it had then, as its manifest said. */
  as_of: z.exactOptional(z.string()),
  /** Whether that state is the only one that it may replace. */
  conditional: z.boolean(),
  begun_at: z.string(),
  begun_by: z.string(),
});
export type UploadBegun = z.infer<typeof uploadBegunSchema>;

const outcomeSchema = z.strictObject({
  outcome: z.enum(['published', 'unchanged']),
  bundle,
  revision: count,
  generation: count,
  digest: digestSchema,
  mode: modeSchema,
  skills: count,
  files: count,
  bytes: count,
  uploaded: z.strictObject({ files: count, bytes: count }),
  findings: z.array(findingSchema),
});

const refusalSchema = z.strictObject({
  code: codeSchema,
  kind: z.custom<ErrorKind>((value) => typeof value === 'string'),
  detail: z.string(),
  findings: z.array(findingSchema),
  facts: z.record(z.string(), z.union([z.string(), z.number()])),
});

/** `ended.json`: what came of it; immutable, so everybody who asks is told the same. */
export const uploadEndedSchema = z.strictObject({
  schema: z.literal(1),
  upload: uploadIdSchema,
  ended_at: z.string(),
  result: z.union([z.strictObject({ published: outcomeSchema }), z.strictObject({ refused: refusalSchema })]),
});
export type UploadEnded = z.infer<typeof uploadEndedSchema>;
