import { isDigest, isSkillName, isTenantId } from '../ids.ts';
import type { Digest, SessionId, SkillName, TenantId } from '../ids.ts';
import * as z from '../zod.ts';

/**
 * What came of a load: `loaded` is the first of a session, `already_active` another one of a skill that it has;
 * `refused` says that it may not be (the catalog has no such skill, or not that version of it), `failed` that the
 * service could not.
 */
export const DECISIONS = ['loaded', 'already_active', 'refused', 'failed'] as const;
export type Decision = (typeof DECISIONS)[number];

/** The record of one call of `load_skill` (issue "Records"): who got which instructions in which session. */
export const receiptSchema = z.strictObject({
  tenant: z.custom<TenantId>((value) => typeof value === 'string' && isTenantId(value)),
  /** The id of the key, or of whoever a JWT names. */
  principal: z.string(),
  session_id: z.custom<SessionId>((value) => typeof value === 'string'),
  skill: z.custom<SkillName>((value) => typeof value === 'string' && isSkillName(value)),
  decision: z.enum(DECISIONS),
  /** Why, of `refused` and `failed`: a code of errors.ts, as it was then. */
  code: z.exactOptional(z.string()),
  /** Which version; left out when no skill was found. `skill_digest` is that of the activation. */
  owner: z.exactOptional(z.string()),
  bundle: z.exactOptional(z.string()),
  revision: z.exactOptional(z.int()),
  skill_digest: z.exactOptional(z.custom<Digest>((value) => typeof value === 'string' && isDigest(value))),
  /** ISO 8601, UTC: when the load began. */
  time: z.string(),
});
export type Receipt = z.infer<typeof receiptSchema>;

/** What a load is about, and what came of it so far. */
export type LoadResult = Pick<
  Receipt,
  'decision' | 'code' | 'owner' | 'bundle' | 'revision' | 'skill_digest'
>;
