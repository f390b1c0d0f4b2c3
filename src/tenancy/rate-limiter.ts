import { setTimeout } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { SkillError } from '../core/errors.ts';
import type { TenantId } from '../core/ids.ts';
import type { RateKind, RateLimit, RateLimits } from '../core/rate-limit.ts';
import { costOf, fillTime, tokensLeft, untilToken } from '../core/rate-limit.ts';
import type { TableKey } from '../core/table-keys.ts';
import { rateKey } from '../core/table-keys.ts';
import type { Table } from '../storage/table.ts';

/** The table is told once a second, or sooner when a tenth of the bucket went. */
const TELL_EVERY_MS = 1_000;
const TELL_SHARE = 10;
/** What was admitted elsewhere meanwhile is a debt; nobody is shut out for longer than this for it. */
const MAX_DEBT_MS = 10_000;
/** A table that does not answer does not hold up the answer for longer. */
const TELL_WAIT_MS = 200;
/** A full bucket is as good as none; it is kept for so long after it filled, as clocks differ. */
const KEPT_FULL_MS = 60 * 60 * 1_000;

export interface RateState {
  readonly kind: RateKind;
  readonly limit: RateLimit;
  /** Whole tokens, as far as this process knows. */
  readonly remaining: number;
  /** Until the bucket is full again. */
  readonly resetSeconds: number;
}

export interface Taken {
  readonly rates: readonly RateState[];
  /** Set when there is no token of some kind; then none was taken of any. */
  readonly retryAfterSeconds: number | undefined;
  /** What the table is told meanwhile; to be awaited before the answer, as a function stops with it. Does not fail. */
  readonly noted?: Promise<void>;
}

/** Takes a token of each kind that is limited. */
export type RateLimiter = (tenant: TenantId, limits: RateLimits, kinds: readonly RateKind[]) => Taken;

interface Bucket {
  fullAt: number;
  /** Admitted here, and not in the table yet, in milliseconds. */
  untold: number;
  toldAt: number;
  telling: boolean;
}

/**
 * Token buckets of tenants, kept in the table and approximate: a process decides by what it knows and tells the table
 * meanwhile, so a limit costs no request its time. Over a while all processes together admit what the limit says; for
 * a second each may admit what it alone would. Where the table does not answer each goes on with what it knows.
 */
export function rateLimiter(table: Table, clock: { readonly nowMs: () => number }): RateLimiter {
  const buckets = new LRUCache<string, Bucket>({ max: 20_000 });

  function bucketOf(tenant: TenantId, kind: RateKind, limit: RateLimit): Bucket {
    const { pk, sk } = rateKey(tenant, kind, limit);
    const name = `${pk} ${sk}`;
    const known = buckets.get(name);
    if (known !== undefined) return known;
    const bucket = { fullAt: 0, untold: 0, toldAt: -Infinity, telling: false };
    buckets.set(name, bucket);
    return bucket;
  }

  async function tell(tenant: TenantId, kind: RateKind, bucket: Bucket, limit: RateLimit): Promise<void> {
    const now = clock.nowMs();
    const told = bucket.untold;
    Object.assign(bucket, { untold: 0, toldAt: now, telling: true });
    try {
      const fullAt = await takeFrom(table, rateKey(tenant, kind, limit), {
        cost: told,
        now,
        guess: bucket.fullAt - told,
        expires_at: Math.ceil((now + fillTime(limit) + MAX_DEBT_MS + KEPT_FULL_MS) / 1_000),
      });
      bucket.fullAt = Math.min(fullAt + bucket.untold, now + fillTime(limit) + MAX_DEBT_MS);
    } catch (error) {
      if (!(error instanceof SkillError)) throw error;
      // The next time makes up for it.
      bucket.untold = Math.min(bucket.untold + told, fillTime(limit));
    } finally {
      bucket.telling = false;
    }
  }

  return (tenant, limits, kinds) => {
    const now = clock.nowMs();
    const limited = kinds.flatMap((kind) => {
      const limit = limits[kind];
      return limit === undefined ? [] : [{ kind, limit, bucket: bucketOf(tenant, kind, limit) }];
    });
    const rates = () =>
      limited.map(({ kind, limit, bucket }) => ({
        kind,
        limit,
        remaining: tokensLeft(limit, bucket.fullAt, now),
        resetSeconds: Math.max(0, Math.ceil((bucket.fullAt - now) / 1_000)),
      }));
    const wait = Math.max(0, ...limited.map(({ limit, bucket }) => untilToken(limit, bucket.fullAt, now)));
    if (wait > 0) return { rates: rates(), retryAfterSeconds: Math.ceil(wait / 1_000) };
    const telling: Promise<void>[] = [];
    for (const { kind, limit, bucket } of limited) {
      bucket.fullAt = Math.max(bucket.fullAt, now) + costOf(limit);
      bucket.untold += costOf(limit);
      const isDue = now - bucket.toldAt >= TELL_EVERY_MS || bucket.untold >= fillTime(limit) / TELL_SHARE;
      if (isDue && !bucket.telling) telling.push(tell(tenant, kind, bucket, limit));
    }
    return {
      rates: rates(),
      retryAfterSeconds: undefined,
      ...(telling.length === 0 ? {} : { noted: atMost(TELL_WAIT_MS, Promise.all(telling)) }),
    };
  };
}

/**
 * Puts off the time at which the bucket in the table is full, and tells it. One write where the guess is right whether
 * the bucket is full already, else two.
 */
async function takeFrom(
  table: Table,
  key: TableKey,
  taken: { readonly cost: number; readonly now: number; readonly guess: number; readonly expires_at: number },
): Promise<number> {
  const { cost, now, expires_at } = taken;
  if (taken.guess <= now) {
    const wasFull = await table.set(
      key,
      { full_at: now + cost, expires_at },
      { expression: 'attribute_not_exists(pk) OR full_at <= :now', values: { ':now': now } },
    );
    if (wasFull) return now + cost;
  }
  const { full_at = 0 } = await table.add(key, { full_at: cost }, { expires_at });
  if (full_at - cost >= now) return full_at;
  // It was full, so what is taken counts from now. Whoever comes between has put it right already.
  await table.set(
    key,
    { full_at: now + cost },
    { expression: 'full_at = :seen', values: { ':seen': full_at } },
  );
  return now + cost;
}

async function atMost(milliseconds: number, work: Promise<unknown>): Promise<void> {
  const timer = new AbortController();
  const waited = setTimeout(milliseconds, undefined, { signal: timer.signal }).catch((error: unknown) => {
    if (!timer.signal.aborted) throw error;
  });
  try {
    await Promise.race([work, waited]);
  } finally {
    timer.abort();
  }
}
