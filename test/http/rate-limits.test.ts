import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { RateLimits } from '../../src/core/rate-limit.ts';
import { SkillError } from '../../src/core/errors.ts';
import { tenantId } from '../../src/core/ids.ts';
import { rateLimiter } from '../../src/tenancy/rate-limiter.ts';
import { zipOf } from '../support/archive-bytes.ts';
import type { Caller } from '../support/call.ts';
import { callerOf, json } from '../support/call.ts';
import type { TestService } from '../support/service.ts';
import { startService } from '../support/service.ts';
import { skillMd } from '../support/skills.ts';

/** So slow that the time that a test takes adds no token. */
const SLOW = 1 / 1_000;
const LIMITS: RateLimits = {
  requests: { per_second: SLOW, burst: 8 },
  loads: { per_second: SLOW, burst: 3 },
};

let service: TestService;
let acmeKey: string;
let acme: Caller;

beforeEach(async () => {
  service = await startService({ rateLimits: LIMITS });
  acmeKey = await service.issue('acme');
  acme = callerOf(service.app, acmeKey);
});
afterEach(async () => {
  vi.useRealTimers();
  await service.close();
});

const catalog = (caller: Caller) => caller.get('/v1/catalog');
const load = (caller: Caller, session = 's') =>
  caller.post('/v1/tools/load_skill', { name: 'report', context: { session_id: session } });
async function statuses(times: number, ask: () => Promise<Response>): Promise<number[]> {
  const found: number[] = [];
  for (let index = 0; index < times; index += 1) found.push((await ask()).status);
  return found;
}

describe('[D7] limits of a tenant', () => {
  test('requests above the limit are 429 with when to come again, and go on then', async () => {
    const first = await catalog(acme);
    expect(first.headers.get('ratelimit-policy')).toBe('"requests";q=8;w=8000');
    expect(first.headers.get('ratelimit')).toBe('"requests";r=7;t=1000');
    expect(await statuses(7, () => catalog(acme))).toEqual(Array(7).fill(200));
    const refused = await catalog(acme);
    expect(refused.status).toBe(429);
    expect(refused.headers.get('content-type')).toBe('application/problem+json');
    expect(refused.headers.get('ratelimit')).toMatch(/^"requests";r=0;t=(?:7999|8000)$/);
    const seconds = Number(refused.headers.get('retry-after'));
    expect(seconds).toBeGreaterThan(900);
    expect(await json(refused)).toMatchObject({ code: 'rate_limited', limit: 'requests', status: 429 });
    service.advance(seconds);
    expect(await statuses(2, () => catalog(acme))).toEqual([200, 429]);
  });

  test('every way to ask counts: refused, unknown, malformed, of another scope', async () => {
    const writer = callerOf(service.app, await service.issue('acme', ['bundles:write']));
    const ways = [
      () => writer.get('/v1/catalog'),
      () => acme.get('/v1/nowhere'),
      () => acme.get('/v1/skills/%ff'),
      () => acme.get('/v1/admin/tenants'),
      () => acme.get('/v1/skills/none'),
      () => acme.request('/v1/catalog', { method: 'HEAD' }),
      () => acme.request('/v1/tools/load_skill', { method: 'POST', body: '{' }),
    ];
    for (const way of ways) expect((await way()).status).not.toBe(429);
    expect((await catalog(acme)).status).toBe(200);
    for (const way of ways) expect((await way()).status).toBe(429);
  });

  test('loads have a bucket of their own, and a load that is refused takes no request', async () => {
    await acme.put('/v1/bundles/main', zipOf({ 'report/SKILL.md': skillMd('report') }));
    const first = await load(acme);
    expect(first.headers.get('ratelimit-policy')).toBe('"requests";q=8;w=8000, "loads";q=3;w=3000');
    expect(first.headers.get('ratelimit')).toMatch(/^"requests";r=6;t=\d+, "loads";r=2;t=\d+$/);
    expect(await statuses(4, () => load(acme))).toEqual([200, 200, 429, 429]);
    expect((await load(acme)).headers.get('ratelimit')).toMatch(/"requests";r=4;/);
    expect((await catalog(acme)).status).toBe(200);
  });

  test('what one tenant asks takes nothing from another, and an operator is not limited', async () => {
    const globex = callerOf(service.app, await service.issue('globex'));
    const operator = callerOf(service.app, await service.issue('operator'));
    await statuses(9, () => catalog(acme));
    expect((await catalog(globex)).headers.get('ratelimit')).toMatch(/r=7;/);
    const answers = await statuses(20, () => operator.get('/v1/admin/tenants'));
    expect(new Set(answers)).toEqual(new Set([200]));
  });

  test('a long-lived process keeps a refusal back for a moment, and answers the others meanwhile', async () => {
    const patient = await startService({ rateLimits: LIMITS, holdRefusedMs: 60_000 });
    const impatient = callerOf(patient.app, await patient.issue('acme'));
    const globex = callerOf(patient.app, await patient.issue('globex'));
    await statuses(8, () => catalog(impatient));
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    let answered = false;
    const refused = catalog(impatient).finally(() => {
      answered = true;
    });
    expect((await catalog(globex)).status).toBe(200);
    expect(answered).toBe(false);
    await vi.advanceTimersByTimeAsync(60_000);
    expect((await refused).status).toBe(429);
    vi.useRealTimers();
    await patient.close();
  });

  test('public routes are not counted; without a good credential there is nothing to count', async () => {
    expect((await service.app.request('/healthz')).headers.get('ratelimit')).toBeNull();
    const unknown = callerOf(service.app, 'sb_unknown_unknown');
    expect((await catalog(unknown)).headers.get('ratelimit')).toBeNull();
  });

  test('another process knows what was taken here, and what it takes is known here', async () => {
    await statuses(8, () => catalog(acme));
    const elsewhere = callerOf(service.anotherProcess(), acmeKey);
    // It learns while it answers its first.
    expect(await statuses(3, () => catalog(elsewhere))).toEqual([200, 429, 429]);
    service.advance(2_001);
    // Of two tokens that came, one pays for the one too many.
    expect(await statuses(3, () => catalog(elsewhere))).toEqual([200, 429, 429]);
  });

  test('an operator sets others for one tenant, at once, and takes them back', async () => {
    const operator = callerOf(service.app, await service.issue('operator'));
    const globex = callerOf(service.app, await service.issue('globex'));
    await statuses(9, () => catalog(acme));
    const set = await operator.request('/v1/admin/tenants/acme/limits', {
      method: 'PUT',
      body: JSON.stringify({ requests: { per_second: 100 } }),
    });
    expect(await json(set)).toMatchObject({ limits: { requests: { per_second: 100, burst: 200 } } });
    expect((await catalog(acme)).headers.get('ratelimit-policy')).toBe('"requests";q=200;w=2');
    expect((await catalog(globex)).headers.get('ratelimit-policy')).toBe('"requests";q=8;w=8000');
    expect(await json(await operator.get('/v1/admin/tenants/acme'))).toMatchObject({
      limits: { limits: { requests: { per_second: 100 } } },
    });
    await operator.request('/v1/admin/tenants/acme/limits', { method: 'PUT', body: '{}' });
    expect((await catalog(acme)).headers.get('ratelimit-policy')).toBe('"requests";q=8;w=8000');
  });

  test('whoever used up a narrow limit is not kept out by it once it is lifted, here and elsewhere', async () => {
    const operator = callerOf(service.app, await service.issue('operator'));
    expect(await statuses(9, () => catalog(acme))).toEqual([...Array<number>(8).fill(200), 429]);
    await operator.request('/v1/admin/tenants/acme/limits', {
      method: 'PUT',
      body: JSON.stringify({ requests: { per_second: 100 } }),
    });
    service.advance(5);
    for (const app of [service.app, service.anotherProcess()]) {
      expect(await statuses(20, () => catalog(callerOf(app, acmeKey)))).toEqual(Array(20).fill(200));
    }
  });

  test('what was used up of a slow limit is remembered until it is there again', async () => {
    await statuses(8, () => catalog(acme));
    const kept = [];
    for await (const item of service.table.query('tenant#acme#rates')) kept.push(item);
    expect(kept).toHaveLength(1);
    const { full_at, expires_at } = kept[0] as { full_at: number; expires_at: number };
    expect(expires_at * 1_000).toBeGreaterThan(full_at);
  });

  test.each([
    { requests: { per_second: 0 } },
    { requests: { per_second: -1 } },
    { requests: { per_second: 1e-9, burst: 10_000_000 } },
    { requests: { per_second: '5' } },
    { requests: { per_second: 5, burst: 0.5 } },
    { requests: { burst: 5 } },
    { loads: null },
    { other: { per_second: 5 } },
  ])('limits %j are refused, and nothing changes', async (body) => {
    const operator = callerOf(service.app, await service.issue('operator'));
    const answer = await operator.request('/v1/admin/tenants/acme/limits', {
      method: 'PUT',
      body: JSON.stringify(body),
    });
    expect(answer.status).toBe(422);
    expect((await catalog(acme)).headers.get('ratelimit-policy')).toBe('"requests";q=8;w=8000');
  });
});

describe('[D7] the buckets', () => {
  const acmeId = tenantId('acme');
  const limits: RateLimits = { requests: { per_second: 10, burst: 20 } };

  test('four processes that ask without end admit, over a minute, what the limit says', async () => {
    let now = 1_800_000_000_000;
    const processes = Array.from({ length: 4 }, () => rateLimiter(service.table, { nowMs: () => now }));
    let admitted = 0;
    for (let step = 0; step < 60 * 50; step += 1) {
      now += 20;
      for (const take of processes) {
        const taken = take(acmeId, limits, ['requests']);
        if (taken.retryAfterSeconds === undefined) admitted += 1;
        await taken.noted;
      }
    }
    const allowed = 60 * 10 + 20;
    expect(admitted).toBeGreaterThan(allowed * 0.8);
    expect(admitted).toBeLessThan(allowed * 1.2);
  });

  test('are cheap: one write in ten requests or in a second, none for what is refused', async () => {
    let now = 1_800_000_000_000;
    const take = rateLimiter(service.table, { nowMs: () => now });
    service.counts.reset();
    for (let index = 0; index < 200; index += 1) {
      await take(acmeId, { requests: { per_second: 100, burst: 100 } }, ['requests']).noted;
    }
    expect(service.counts.table.set + service.counts.table.add).toBeLessThanOrEqual(12);
    service.counts.reset();
    for (let index = 0; index < 10; index += 1) {
      now += 10_000;
      await take(acmeId, { requests: { per_second: 100, burst: 100 } }, ['requests']).noted;
    }
    expect(service.counts.table.set + service.counts.table.add).toBe(10);
  });

  test('when the table does not answer each process goes on with what it knows, and tells it later', async () => {
    let now = 1_800_000_000_000;
    let down = true;
    const fail = () => Promise.reject(new SkillError('unavailable'));
    const table = {
      ...service.table,
      set: (...given: Parameters<typeof service.table.set>) => (down ? fail() : service.table.set(...given)),
      add: (...given: Parameters<typeof service.table.add>) => (down ? fail() : service.table.add(...given)),
    };
    const take = rateLimiter(table, { nowMs: () => now });
    const refused: boolean[] = [];
    for (let index = 0; index < 21; index += 1) {
      const taken = take(acmeId, limits, ['requests']);
      refused.push(taken.retryAfterSeconds !== undefined);
      await taken.noted;
    }
    expect(refused.indexOf(true)).toBe(20);
    down = false;
    now += 1_000;
    await take(acmeId, limits, ['requests']).noted;
    const other = rateLimiter(service.table, { nowMs: () => now });
    await other(acmeId, limits, ['requests']).noted;
    expect(other(acmeId, limits, ['requests']).rates[0]?.remaining).toBeLessThan(12);
  });

  test('a table that hangs holds up no answer', async () => {
    const take = rateLimiter(
      { ...service.table, set: () => new Promise<boolean>(() => undefined) },
      { nowMs: () => 1_800_000_000_000 },
    );
    await expect(take(acmeId, limits, ['requests']).noted).resolves.toBeUndefined();
  });
});
