import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { SkillError } from '../../src/core/errors.ts';
import type { ObjectStore } from '../../src/storage/object-store.ts';
import type { Table } from '../../src/storage/table.ts';
import { zipOf } from '../support/archive-bytes.ts';
import type { Caller } from '../support/call.ts';
import { callerOf, json } from '../support/call.ts';
import type { TestService } from '../support/service.ts';
import { startService } from '../support/service.ts';
import { skillMd } from '../support/skills.ts';

let service: TestService;
let acme: Caller;
/** The id of acme's key. */
let principal = '';
/** While set, reads of files fail as if the bucket were away. */
let bucketAway = false;
/** While set, writes to partitions that hold it fail as if the table were away. */
let tableAwayFor: string | undefined;

const failing = (store: ObjectStore): ObjectStore => ({
  ...store,
  get: (key, unless) =>
    bucketAway && key.includes('/files/')
      ? Promise.reject(new SkillError('unavailable', { detail: 'The object store cannot answer now.' }))
      : store.get(key, unless),
});
const failingTable = (table: Table): Table => {
  const away = (pk: string) => tableAwayFor !== undefined && pk.includes(tableAwayFor);
  const refused = () => Promise.reject(new SkillError('unavailable', { detail: 'The table is away.' }));
  return {
    ...table,
    put: (key, item, condition) => (away(key.pk) ? refused() : table.put(key, item, condition)),
    add: (key, amounts, attributes) => (away(key.pk) ? refused() : table.add(key, amounts, attributes)),
  };
};

beforeAll(async () => {
  service = await startService({ wrap: failing, wrapTable: failingTable });
  const key = await service.issue('acme');
  principal = key.split('_')[1] ?? '';
  acme = callerOf(service.app, key);
});
beforeEach(async () => {
  bucketAway = false;
  tableAwayFor = undefined;
  await acme.put('/v1/bundles/main', zipOf({ 'review/SKILL.md': skillMd('review') }));
});
afterAll(() => service.close());

let sessions = 0;
const newSession = (): string => `records-${(sessions += 1)} é/#`;
const load = (session: string, more: Record<string, unknown> = {}, caller = acme): Promise<Response> =>
  caller.post('/v1/tools/load_skill', { name: 'review', context: { session_id: session }, ...more });

interface Answer<Entry> {
  readonly receipts: readonly Entry[];
  readonly usage: readonly Entry[];
  readonly next_cursor?: string;
}
async function receiptsOf(session: string, caller = acme): Promise<readonly Record<string, unknown>[]> {
  const answer = await caller.get(`/v1/receipts?session=${encodeURIComponent(session)}`);
  expect(answer.status).toBe(200);
  return ((await answer.json()) as Answer<Record<string, unknown>>).receipts;
}
const decisions = async (session: string) =>
  (await receiptsOf(session)).map(({ decision, code }) => (code === undefined ? decision : [decision, code]));

async function usageOf(query = '', caller = acme): Promise<readonly Record<string, unknown>[]> {
  const answer = await caller.get(`/v1/usage${query}`);
  expect(answer.status).toBe(200);
  return ((await answer.json()) as Answer<Record<string, unknown>>).usage;
}
/** What was counted of `review` while something happened. */
async function counted(happens: () => Promise<unknown>, skill = 'review'): Promise<Record<string, number>> {
  const now = async () => (await usageOf(`?skill=${skill}`)).at(-1) ?? {};
  const before = await now();
  await happens();
  const after = await now();
  const kinds = ['loaded', 'already_active', 'refused', 'failed'];
  const of = (usage: Record<string, unknown>, kind: string) => Number(usage[kind] ?? 0);
  return Object.fromEntries(
    kinds.map((kind) => [kind, of(after, kind) - of(before, kind)] as const).filter(([, more]) => more !== 0),
  );
}

describe('GET /v1/receipts', () => {
  test('[D7] a load leaves who, where, which version, when and what came of it', async () => {
    const session = newSession();
    const loaded = await json(await load(session));
    const activation = loaded['activation'] as Record<string, unknown>;
    expect(await receiptsOf(session)).toEqual([
      {
        tenant: 'acme',
        principal,
        session_id: session,
        skill: 'review',
        decision: 'loaded',
        owner: 'acme',
        bundle: 'main',
        revision: activation['revision'],
        skill_digest: activation['skill_digest'],
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string,
      },
    ]);
  });

  test('[D7] loading again is told apart, and names the version that the session keeps', async () => {
    const session = newSession();
    await load(session);
    await acme.put('/v1/bundles/main', zipOf({ 'review/SKILL.md': skillMd('review', 'Another.') }));
    await load(session, { force: true });
    const [first, second] = await receiptsOf(session);
    expect(first?.['decision']).toBe('loaded');
    expect(second).toMatchObject({
      decision: 'already_active',
      skill_digest: first?.['skill_digest'],
      revision: first?.['revision'],
    });
  });

  test('[D7] a load that is refused leaves why: no such skill, another version, a bundle that is not trusted', async () => {
    const session = newSession();
    await load(session, { name: 'no-such-skill' });
    await load(session, { digest: `sha256:${'0'.repeat(64)}` });
    await load(session, { bundles: ['main'] });
    await load(session, { bundles: ['nope'], trust: true });
    expect(await decisions(session)).toEqual([
      ['refused', 'skill_not_found'],
      ['refused', 'skill_changed'],
      ['refused', 'untrusted_skill_path'],
      ['refused', 'not_found'],
    ]);
    const [absent, changed] = await receiptsOf(session);
    expect(absent).not.toHaveProperty('skill_digest');
    expect(changed).toHaveProperty('skill_digest');
  });

  test('[D7] a load that the bucket failed is one receipt, and it says so', async () => {
    const session = newSession();
    await acme.get('/v1/catalog');
    bucketAway = true;
    expect((await load(session)).status).toBe(503);
    expect(await decisions(session)).toEqual([['failed', 'unavailable']]);
    bucketAway = false;
    await load(session);
    bucketAway = true;
    expect((await load(session)).status).toBe(503);
    expect(await decisions(session)).toEqual([
      ['failed', 'unavailable'],
      'loaded',
      ['failed', 'unavailable'],
    ]);
  });

  test.each(['#receipts#', '#usage'])(
    '[D7] without its record (%s) nothing is loaded and nothing stays active',
    async (partition) => {
      const session = newSession();
      tableAwayFor = partition;
      const refused = await load(session);
      expect(refused.status).toBe(503);
      expect(await refused.text()).not.toContain('# review');
      expect(await json(await acme.get(`/v1/sessions/${encodeURIComponent(session)}/activations`))).toEqual({
        activations: [],
      });
      tableAwayFor = undefined;
      expect((await json(await load(session)))['activation']).toMatchObject({ already_active: false });
      tableAwayFor = partition;
      expect((await load(session)).status).toBe(503);
      expect((await load(session, { name: 'review', digest: `sha256:${'0'.repeat(64)}` })).status).toBe(503);
    },
  );

  test('[D7] of many loads at once one receipt says loaded, and every load has its own', async () => {
    const session = newSession();
    await Promise.all(Array.from({ length: 12 }, () => load(session)));
    const all = await decisions(session);
    expect(all).toHaveLength(12);
    expect(all.filter((one) => one === 'loaded')).toHaveLength(1);
    expect(all.filter((one) => one === 'already_active')).toHaveLength(11);
  });

  test('[D7] pages neither repeat nor skip, also while more is loaded, and a cursor is of its session alone', async () => {
    const session = newSession();
    for (let index = 0; index < 7; index += 1) await load(session);
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const answer = await acme.get(
        `/v1/receipts?session=${encodeURIComponent(session)}&limit=3${cursor === undefined ? '' : `&cursor=${cursor}`}`,
      );
      const page = (await answer.json()) as Answer<{ time: string }>;
      expect(page.receipts.length).toBeLessThanOrEqual(3);
      seen.push(...page.receipts.map(({ time }) => time));
      if (cursor === undefined) await load(session);
      cursor = page.next_cursor;
    } while (cursor !== undefined);
    expect(seen).toHaveLength(8);
    expect(seen).toEqual([...seen].sort());
    const first = (await (
      await acme.get(`/v1/receipts?session=${encodeURIComponent(session)}&limit=1`)
    ).json()) as Answer<unknown>;
    const elsewhere = await acme.get(`/v1/receipts?session=other&cursor=${first.next_cursor ?? ''}`);
    expect(elsewhere.status).toBe(422);
    expect(await json(elsewhere)).toMatchObject({ code: 'invalid_request', parameter: 'cursor' });
  });

  test('[D7] another tenant’s session of the same name has none of them; releasing a session keeps them', async () => {
    const session = newSession();
    await load(session);
    const globex = callerOf(service.app, await service.issue('globex'));
    expect(await receiptsOf(session, globex)).toEqual([]);
    expect(await usageOf('', globex)).toEqual([]);
    await acme.delete(`/v1/sessions/${encodeURIComponent(session)}`);
    expect(await decisions(session)).toEqual(['loaded']);
  });

  test('[D7] they end with their time, and need policy:write', async () => {
    const session = newSession();
    await load(session);
    service.advance(89 * 24 * 60 * 60);
    expect(await decisions(session)).toEqual(['loaded']);
    service.advance(2 * 24 * 60 * 60);
    expect(await decisions(session)).toEqual([]);
    const agent = callerOf(service.app, await service.issue('acme', ['catalog:read', 'skills:load']));
    for (const path of [`/v1/receipts?session=x`, '/v1/usage']) {
      expect((await agent.get(path)).status).toBe(403);
    }
  });

  test.each([
    '',
    '?session=',
    `?session=${'x'.repeat(257)}`,
    '?session=x&limit=0',
    '?session=x&cursor=x',
    '?session=a&session=b',
  ])('a question that is no question is refused: %s', async (query) => {
    const refused = await acme.get(`/v1/receipts${query}`);
    expect(refused.status).toBe(422);
    expect(await json(refused)).toMatchObject({ code: 'invalid_request' });
  });
});

describe('GET /v1/usage', () => {
  test('[D7] counts by day and skill what the receipts say', async () => {
    const session = newSession();
    expect(await counted(() => load(session))).toEqual({ loaded: 1 });
    expect(await counted(() => load(session))).toEqual({ already_active: 1 });
    expect(await counted(() => load(session, { digest: `sha256:${'0'.repeat(64)}` }))).toEqual({
      refused: 1,
    });
    await acme.get('/v1/catalog');
    bucketAway = true;
    expect(await counted(() => load(newSession()))).toEqual({ failed: 1 });
    expect(await counted(() => load(session))).toEqual({ failed: 1 });
    bucketAway = false;
    expect(await counted(() => Promise.all(Array.from({ length: 20 }, () => load(newSession()))))).toEqual({
      loaded: 20,
    });
    // Anybody's words are not counted; there would be no end to them.
    expect(await counted(() => load(session, { name: 'no-such-skill' }), 'no-such-skill')).toEqual({});
  });

  test('[D7] days are UTC, both ends are included, and one skill can be asked for', async () => {
    await acme.put(
      '/v1/bundles/main',
      zipOf({ 'review/SKILL.md': skillMd('review'), 'audit/SKILL.md': skillMd('audit') }),
    );
    const days: string[] = [];
    for (let index = 0; index < 3; index += 1) {
      service.advance(24 * 60 * 60);
      days.push(service.now().toISOString().slice(0, 10));
      await load(newSession());
      await load(newSession(), { name: 'audit' });
    }
    const [first, second, third] = days as [string, string, string];
    const shown = async (query: string) =>
      (await usageOf(query)).map(({ day, skill, loaded }) => [day, skill, loaded]);
    expect(await shown(`?from=${first}`)).toEqual(
      days.flatMap((day) => [
        [day, 'audit', 1],
        [day, 'review', 1],
      ]),
    );
    expect(await shown(`?from=${second}&to=${second}`)).toEqual([
      [second, 'audit', 1],
      [second, 'review', 1],
    ]);
    expect(await shown(`?from=${first}&to=${second}&skill=audit`)).toEqual([
      [first, 'audit', 1],
      [second, 'audit', 1],
    ]);
    const all = await json(await acme.get('/v1/usage'));
    expect(all['to']).toBe(third);
    expect(all['from']).toBe(
      new Date(Date.parse(third) - 29 * 24 * 60 * 60 * 1000).toISOString().slice(0, 10),
    );
    for (const query of [`from=${first}`, `from=${first}&skill=review`]) {
      const seen: unknown[] = [];
      let cursor: string | undefined;
      do {
        const answer = await acme.get(
          `/v1/usage?${query}&limit=2${cursor === undefined ? '' : `&cursor=${cursor}`}`,
        );
        const page = (await answer.json()) as Answer<unknown>;
        expect(page.usage.length).toBeLessThanOrEqual(2);
        seen.push(...page.usage);
        cursor = page.next_cursor;
      } while (cursor !== undefined);
      expect(seen).toEqual(await usageOf(`?${query}`));
    }
  });

  test('a skill that nobody loaded has none, and asking for a year of one costs a bounded number of reads', async () => {
    await acme.get('/v1/usage');
    service.counts.reset();
    const to = service.now().toISOString().slice(0, 10);
    const from = new Date(Date.parse(to) - 365 * 24 * 60 * 60 * 1000).toISOString().slice(0, 10);
    expect(await usageOf(`?skill=never-loaded&from=${from}`)).toEqual([]);
    expect(service.counts.table).toMatchObject({ get: 366, query: 0 });
  });

  test.each([
    ['from', 'from=2026-02-30'],
    ['from', 'from=yesterday'],
    ['from', 'from=2026-1-1'],
    ['to', 'to=2026-12-06T00:00:00Z'],
    ['to', 'to='],
    ['from', 'from=2026-02-02&to=2026-02-01'],
    ['from', 'from=2025-01-01&to=2026-01-02'],
    ['from', 'from=2999-01-01'],
    ['to', 'to=0000-01-01'],
    ['skill', 'skill=Not%20A%20Name'],
    ['limit', 'limit=201'],
    ['cursor', 'cursor=eA'],
  ])('a question that is no question is refused, naming %s: %s', async (parameter, query) => {
    const refused = await acme.get(`/v1/usage?${query}`);
    expect(refused.status).toBe(422);
    expect(await json(refused)).toMatchObject({ code: 'invalid_request', parameter });
  });

  test.each(['', '9999-99-99#x', '2999-01-01#x', '2000-01-01#x', 'x'.repeat(2_000), '#', '2026-01-01#A'])(
    'a cursor that somebody made is refused, and leads nowhere else: %s',
    async (position) => {
      await load(newSession());
      await load(newSession());
      for (const query of [
        '/v1/usage?limit=1',
        `/v1/receipts?session=${encodeURIComponent(await busySession())}&limit=1`,
      ]) {
        const page = (await (await acme.get(query)).json()) as Answer<unknown>;
        const real = Buffer.from(page.next_cursor ?? '', 'base64url').toString('utf8');
        expect(real).not.toBe('');
        const made = Buffer.from(`${real.split(' ')[0] ?? ''} ${position}`).toString('base64url');
        const refused = await acme.get(`${query}&cursor=${made}`);
        expect(refused.status).toBe(422);
        expect(await json(refused)).toMatchObject({ code: 'invalid_request', parameter: 'cursor' });
      }
    },
  );
});

async function busySession(): Promise<string> {
  const session = newSession();
  await load(session);
  await load(session);
  return session;
}
