import { SkillError } from '../core/errors.ts';
import { fillTime } from '../core/rate-limit.ts';
import type { RateLimit, RateLimits } from '../core/rate-limit.ts';
import { OPERATOR } from '../tenancy/reserved-tenants.ts';
import type { RateLimiter, RateState, Taken } from '../tenancy/rate-limiter.ts';
import type { Caller } from '../tenancy/who-asks.ts';
import type { AppContext, TenantRoute } from './route.ts';

export interface Limiting {
  readonly rateLimiter: RateLimiter;
  /** Of every tenant for which an operator has not set others. */
  readonly rateLimits: RateLimits;
  /** How long a 429 is kept back; in long-lived processes. */
  readonly holdRefusedMs?: number;
}

/**
 * Counts a request of a tenant, also one that is refused later. An operator's own are not counted.
 *
 * @throws SkillError rate_limited
 */
export function countRequest(
  parts: Limiting,
  context: AppContext,
  caller: Caller,
  also: TenantRoute['counts'],
): Taken {
  if (caller.principal.tenant === OPERATOR) return { rates: [], retryAfterSeconds: undefined };
  const limits = { ...parts.rateLimits, ...caller.tenant.limits?.limits };
  const taken = parts.rateLimiter(
    caller.principal.tenant,
    limits,
    also === undefined ? ['requests'] : ['requests', also],
  );
  context.set('rates', taken.rates);
  if (taken.retryAfterSeconds === undefined) return taken;
  const full = taken.rates.find(({ remaining }) => remaining === 0);
  throw new SkillError('rate_limited', {
    detail:
      full === undefined
        ? 'This tenant asks too much.'
        : `This tenant may make ${full.limit.per_second} ${full.kind} a second, and ${full.limit.burst} at once.`,
    retryAfterSeconds: taken.retryAfterSeconds,
    facts: { limit: full?.kind ?? 'requests' },
  });
}

/** RateLimit-Policy and RateLimit as draft-ietf-httpapi-ratelimit-headers-10 has them. */
export function tellRates(headers: Headers, rates: readonly RateState[] | undefined): void {
  if (rates === undefined || rates.length === 0) return;
  headers.set(
    'ratelimit-policy',
    rates.map(({ kind, limit }) => `"${kind}";q=${limit.burst};w=${windowSeconds(limit)}`).join(', '),
  );
  headers.set(
    'ratelimit',
    rates.map(({ kind, remaining, resetSeconds }) => `"${kind}";r=${remaining};t=${resetSeconds}`).join(', '),
  );
}

const windowSeconds = (limit: RateLimit): number => Math.max(1, Math.ceil(fillTime(limit) / 1_000));

/** Slows down who asks again at once, whatever it was answered. */
export async function holdRefused({ holdRefusedMs = 0 }: Limiting, response: Response): Promise<void> {
  if (holdRefusedMs === 0 || response.status !== 429) return;
  await new Promise((resolve) => setTimeout(resolve, holdRefusedMs));
}
