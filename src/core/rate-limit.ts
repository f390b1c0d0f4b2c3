import * as z from './zod.ts';

/** What is counted of a tenant: everything it asks, and of that what loads a skill or a resource. */
export const RATE_KINDS = ['requests', 'loads'] as const;
export type RateKind = (typeof RATE_KINDS)[number];

/** A token bucket: it holds `burst` tokens at the most and gains `per_second` of them. */
export const rateLimitSchema = z.strictObject({
  /** Header fields have no room for windows of a slower one. */
  per_second: z.number().check(z.minimum(0.001), z.maximum(1_000_000)),
  burst: z.int().check(z.minimum(1), z.maximum(10_000_000)),
});
export type RateLimit = z.infer<typeof rateLimitSchema>;

/** By kind; what is not named is not limited (deployment), or limited as the deployment says (tenant). */
export const rateLimitsSchema = z.strictObject({
  requests: z.exactOptional(rateLimitSchema),
  loads: z.exactOptional(rateLimitSchema),
});
export type RateLimits = z.infer<typeof rateLimitsSchema>;

/** Two seconds' worth at once, where nobody says how much. */
export function rateLimit(perSecond: number, burst = Math.max(1, Math.ceil(2 * perSecond))): RateLimit {
  return { per_second: perSecond, burst };
}

/*
 * A bucket is one number: the time at which it is full again, in milliseconds (GCRA, the generic cell rate algorithm).
 * Taking a token puts that time off; a bucket is empty when it is further away than filling it takes.
 */

/** Of one token, in milliseconds; to a thousandth, so that sums stay short numbers. */
export const costOf = (limit: RateLimit): number => Math.round(1_000_000 / limit.per_second) / 1_000;

export const fillTime = (limit: RateLimit): number => costOf(limit) * limit.burst;

/** How many whole tokens there are. */
export function tokensLeft(limit: RateLimit, fullAt: number, now: number): number {
  const away = Math.max(0, fullAt - now);
  return Math.max(0, Math.floor((fillTime(limit) - away) / costOf(limit) + 1e-6));
}

/** How long until there is a token again, in milliseconds; 0 when there is one. */
export function untilToken(limit: RateLimit, fullAt: number, now: number): number {
  return Math.max(0, Math.max(fullAt, now) + costOf(limit) - fillTime(limit) - now);
}
