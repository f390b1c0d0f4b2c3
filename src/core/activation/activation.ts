import { MAX_INLINE_LISTING_BYTES } from '../limits.ts';
import { isDigest, isSkillName } from '../ids.ts';
import type { Digest, SessionId, SkillName } from '../ids.ts';
import * as z from '../zod.ts';

const digestSchema = z.custom<Digest>((value) => typeof value === 'string' && isDigest(value));

const listedSchema = z.strictObject({
  relative_path: z.string(),
  name: z.string(),
  size: z.int(),
  type: z.enum(['script', 'reference', 'asset', 'file']),
  mime_type: z.string(),
  digest: digestSchema,
});

/**
 * A skill loaded in a session: the version that the session keeps, and the listing that it may load from (J16, J19).
 * Times are ISO 8601 for `activated_at`, epoch seconds for `expires_at` (DynamoDB's TTL unit).
 */
export const activationSchema = z.strictObject({
  session_id: z.custom<SessionId>((value) => typeof value === 'string'),
  skill: z.custom<SkillName>((value) => typeof value === 'string' && isSkillName(value)),
  owner: z.string(),
  bundle: z.string(),
  directory: z.string(),
  revision: z.int(),
  mode: z.enum(['strict', 'lenient']),
  skill_digest: digestSchema,
  skill_md: z.strictObject({ path: z.string(), digest: digestSchema, size: z.int() }),
  /** What a policy may hide it by. */
  tags: z._default(z.array(z.string()), []),
  disable_model_invocation: z.exactOptional(z.literal(true)),
  /** The authorized listing; undefined when it is too large for an item: then it follows from digest and policy. */
  listing: z.exactOptional(
    z.strictObject({
      entries: z.array(listedSchema),
      truncation_reasons: z.array(
        z.enum(['max_resources', 'max_depth', 'max_directories', 'max_listing_bytes']),
      ),
    }),
  ),
  policy: z.strictObject({
    max_resources: z.number(),
    max_depth: z.number(),
    max_directories: z.number(),
    max_listing_bytes: z.number(),
    max_file_bytes: z.number(),
    max_text_bytes: z.number(),
    binary: z.enum(['reject', 'allow']),
  }),
  activated_at: z.string(),
  expires_at: z.int(),
});
export type Activation = z.infer<typeof activationSchema>;

/** A larger listing stays in the bucket under the skill's digest. */
export function fitsItem(listing: Activation['listing']): boolean {
  return Buffer.byteLength(JSON.stringify(listing), 'utf8') <= MAX_INLINE_LISTING_BYTES;
}

/** Expiry is compared, never trusted to have happened: DynamoDB may return an expired item for days. */
export function isExpired(activation: { readonly expires_at: number }, nowSeconds: number): boolean {
  return activation.expires_at <= nowSeconds;
}

/** Renewed when used with less than half of its time left, so that most uses write nothing. */
export function shouldRenew(
  activation: { readonly expires_at: number },
  nowSeconds: number,
  ttlSeconds: number,
): boolean {
  return activation.expires_at - nowSeconds < ttlSeconds / 2;
}
