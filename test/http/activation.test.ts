import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { SkillError } from '../../src/core/errors.ts';
import type { ObjectStore } from '../../src/storage/object-store.ts';
import { zipOf } from '../support/archive-bytes.ts';
import type { Caller } from '../support/call.ts';
import { callerOf, json } from '../support/call.ts';
import type { TestService } from '../support/service.ts';
import { startService } from '../support/service.ts';
import { skillMd } from '../support/skills.ts';

let service: TestService;
let acme: Caller;
/** While set, reads of files fail as if the bucket were away. */
let bucketAway = false;

const BODY = '# Review\n\nRead references/checks.md.\n';
const FILES = {
  'review/SKILL.md': skillMd('review', 'Reviews code.', BODY),
  'review/references/checks.md': '# Checks\n',
  'review/scripts/run.py': 'print(1)\n',
  'review/assets/logo.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
  'review/LICENSE': 'Apache-2.0\n',
  'review/custom/deep/er.txt': 'deep\n',
};

const failing = (store: ObjectStore): ObjectStore => ({
  ...store,
  get: (key, unless) =>
    bucketAway && key.includes('/files/')
      ? Promise.reject(new SkillError('unavailable', { detail: 'The object store cannot answer now.' }))
      : store.get(key, unless),
});

beforeAll(async () => {
  service = await startService({ wrap: failing });
  acme = callerOf(service.app, await service.issue('acme'));
});
beforeEach(async () => {
  bucketAway = false;
  await acme.put('/v1/bundles/main', zipOf(FILES));
});
afterAll(() => service.close());

let sessions = 0;
const newSession = (): string => `session-${(sessions += 1)}`;
const load = (session: string, more: Record<string, unknown> = {}, caller = acme): Promise<Response> =>
  caller.post('/v1/tools/load_skill', { name: 'review', context: { session_id: session }, ...more });

describe('POST /v1/tools/load_skill', () => {
  test('[J17] returns instructions, root and the resources grouped, never SKILL.md, never a path of ours', async () => {
    const body = await json(await load(newSession()));
    expect(body).toMatchObject({
      name: 'review',
      description: 'Reviews code.',
      instructions: BODY,
      root_dir: 'bundle://acme/main/review',
      durable: true,
      truncated: false,
      token_limit: 10_000,
      allowed_tools: [],
    });
    const listing = body['resources'] as Record<string, { relative_path: string }[]>;
    const paths = (group: string) => listing[group]?.map((entry) => entry.relative_path);
    expect(paths('resources')).toEqual([
      'LICENSE',
      'assets/logo.svg',
      'custom/deep/er.txt',
      'references/checks.md',
      'scripts/run.py',
    ]);
    expect(paths('scripts')).toEqual(['scripts/run.py']);
    expect(paths('references')).toEqual(['references/checks.md']);
    expect(paths('assets')).toEqual(['assets/logo.svg']);
    expect(body['resources']).toMatchObject({ complete: true, truncated: false, truncation_reasons: [] });
    expect(listing['references']?.[0]).toEqual({
      relative_path: 'references/checks.md',
      name: 'checks.md',
      size: 9,
      type: 'reference',
      mime_type: 'text/markdown',
      digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) as string,
    });
    expect(JSON.stringify(body)).not.toContain(service.directory);
  });

  test('costs one object read; an activation, a receipt and a count are written', async () => {
    await acme.get('/v1/catalog');
    service.counts.reset();
    await load(newSession());
    expect(service.counts.objects).toMatchObject({ get: 1, put: 0, list: 0 });
    expect(service.counts.table).toMatchObject({ put: 2, add: 1, get: 0, set: 0, query: 0 });
  });

  test('[J2] the catalog never reads a body; loading reads just the one', async () => {
    service.counts.reset();
    const cold = callerOf(service.anotherProcess(), await service.issue('acme'));
    await cold.get('/v1/catalog');
    expect(service.counts.objects.keys.filter((key) => key.includes('/files/'))).toEqual([]);
    await load(newSession(), {}, cold);
    expect(service.counts.objects.keys.filter((key) => key.includes('/files/'))).toHaveLength(1);
  });

  test('[J16] the session is session_id, else agent_id, else request_id; none is refused', async () => {
    const id = newSession();
    await acme.post('/v1/tools/load_skill', {
      name: 'review',
      context: { agent_id: id, request_id: 'other' },
    });
    const again = await json(await load(id));
    expect(again['activation']).toMatchObject({ session_id: id, already_active: true });
    const byRequest = await acme.post('/v1/tools/load_skill', {
      name: 'review',
      context: { request_id: newSession() },
    });
    expect(byRequest.status).toBe(200);
    for (const body of [{ name: 'review', context: {} }, { name: 'review' }]) {
      const refused = await acme.post('/v1/tools/load_skill', body);
      expect(refused.status).toBe(422);
      expect(await json(refused)).toMatchObject({ code: 'missing_session' });
    }
  });

  test('[J16] sessions, skills and tenants do not share activations', async () => {
    const id = newSession();
    const globex = callerOf(service.app, await service.issue('globex'));
    await globex.put('/v1/bundles/main', zipOf({ 'review/SKILL.md': skillMd('review', 'Other.') }));
    await load(id);
    expect((await json(await load(`${id}-b`)))['activation']).toMatchObject({ already_active: false });
    expect((await json(await load(id, {}, globex)))['activation']).toMatchObject({ already_active: false });
    await globex.delete(`/v1/sessions/${id}`);
    expect((await json(await load(id)))['activation']).toMatchObject({ already_active: true });
  });

  test('a second load is short, unless forced', async () => {
    const id = newSession();
    await load(id);
    const again = await json(await load(id));
    expect(again).not.toHaveProperty('instructions');
    expect(again['activation']).toMatchObject({ already_active: true, stale: false });
    const forced = await json(await load(id, { force: true }));
    expect(forced['instructions']).toBe(BODY);
  });

  test('a session keeps its version until it is released', async () => {
    const id = newSession();
    const first = await json(await load(id));
    await acme.put(
      '/v1/bundles/main',
      zipOf({
        ...FILES,
        'review/SKILL.md': skillMd('review', 'New.', '# New\n'),
        'review/references/checks.md': 'new',
      }),
    );
    const pinned = await json(await load(id, { force: true }));
    expect(pinned).toMatchObject({ instructions: BODY, description: 'Reviews code.' });
    expect(pinned['activation']).toMatchObject({ already_active: true, stale: true });
    expect(pinned['resources']).toEqual(first['resources']);
    const old = await acme.post('/v1/tools/load_skill_resource', {
      name: 'review',
      relative_path: 'references/checks.md',
      context: { session_id: id },
    });
    expect((await json(old))['content']).toBe('# Checks\n');
    expect((await acme.delete(`/v1/sessions/${id}/activations/review`)).status).toBe(204);
    const fresh = await json(await load(id));
    expect(fresh).toMatchObject({ instructions: '# New\n' });
    expect(fresh['activation']).toMatchObject({ already_active: false, stale: false });
  });

  test('of many loads at once exactly one begins the activation', async () => {
    const id = newSession();
    const answers = await Promise.all(Array.from({ length: 12 }, async () => json(await load(id))));
    const begun = answers.filter((one) => !(one['activation'] as { already_active: boolean }).already_active);
    expect(begun).toHaveLength(1);
    expect(answers.filter((one) => one['instructions'] !== undefined)).toEqual(begun);
  });

  test('a load that could not read its instructions leaves nothing activated', async () => {
    const id = newSession();
    bucketAway = true;
    const failed = await load(id);
    expect(failed.status).toBe(503);
    expect(failed.headers.get('retry-after')).not.toBeNull();
    expect(await json(failed)).toMatchObject({ code: 'unavailable' });
    bucketAway = false;
    const body = await json(await load(id));
    expect(body['instructions']).toBe(BODY);
    expect(body['activation']).toMatchObject({ already_active: false });
  });

  test('a skill that was removed is told apart from one that never was', async () => {
    const id = newSession();
    await load(id);
    await acme.put('/v1/bundles/main', zipOf({ 'else/SKILL.md': skillMd('else') }));
    const removed = await load(id);
    expect(removed.status).toBe(404);
    expect((await json(removed))['detail']).toMatch(/removed/);
    const never = await load(newSession());
    expect(never.status).toBe(404);
    expect((await json(never))['detail']).not.toMatch(/removed/);
  });

  test('[N4] a descriptor that is stale is refused before anything is activated', async () => {
    const id = newSession();
    const { digest } = await json(await acme.get('/v1/skills/review'));
    expect((await load(newSession(), { digest })).status).toBe(200);
    await acme.put('/v1/bundles/main', zipOf({ ...FILES, 'review/scripts/run.py': 'print(2)\n' }));
    const refused = await load(id, { digest });
    expect(refused.status).toBe(409);
    expect(await json(refused)).toMatchObject({ code: 'skill_changed' });
    expect(await json(await acme.get(`/v1/sessions/${id}/activations`))).toEqual({ activations: [] });
    const fresh = await json(await acme.get('/v1/skills/review'));
    expect((await load(id, { digest: fresh['digest'] })).status).toBe(200);
    expect((await load(id, { digest: 'sha256:x' })).status).toBe(422);
  });

  test('[N7] instructions keep to max_tokens, at a character', async () => {
    await acme.put(
      '/v1/bundles/main',
      zipOf({ 'review/SKILL.md': skillMd('review', 'Long.', '漢'.repeat(4_000)) }),
    );
    const body = await json(await load(newSession(), { max_tokens: 10 }));
    expect(body).toMatchObject({
      truncated: true,
      token_limit: 10,
      instructions: '漢'.repeat(13),
      estimated_tokens: 10,
    });
    for (const max_tokens of [0, 100_001, 1.5, true, '10', null]) {
      const refused = await load(newSession(), { max_tokens });
      expect(refused.status).toBe(422);
      expect(await json(refused)).toMatchObject({ code: 'invalid_request', parameter: 'max_tokens' });
    }
  });

  test('[J16] bundles are loaded from by name only with trust in the same call', async () => {
    await acme.put('/v1/bundles/zz', zipOf({ 'only-here/SKILL.md': skillMd('only-here') }));
    const body = { name: 'only-here', context: { session_id: newSession() }, bundles: ['zz'] };
    const untrusted = await acme.post('/v1/tools/load_skill', body);
    expect(untrusted.status).toBe(403);
    expect(await json(untrusted)).toMatchObject({ code: 'untrusted_skill_path', path: 'bundle://acme/zz' });
    expect((await acme.post('/v1/tools/load_skill', { ...body, trust: true })).status).toBe(200);
    const elsewhere = await acme.post('/v1/tools/load_skill', { ...body, bundles: ['main'], trust: true });
    expect(await json(elsewhere)).toMatchObject({ code: 'skill_not_found' });
    const unknown = await acme.post('/v1/tools/load_skill', { ...body, bundles: ['nope'], trust: true });
    expect(unknown.status).toBe(404);
  });

  test('[D3] activations outlive the process and end with their time', async () => {
    const id = newSession();
    await load(id);
    const other = callerOf(service.anotherProcess(), await service.issue('acme'));
    expect((await json(await load(id, {}, other)))['activation']).toMatchObject({ already_active: true });
    service.advance(13 * 60 * 60);
    // Used with less than half of its time left, so renewed …
    const renewed = await json(await load(id));
    service.advance(13 * 60 * 60);
    const kept = await json(await load(id));
    expect(kept['activation']).toMatchObject({ already_active: true });
    expect((renewed['activation'] as { expires_at: string }).expires_at > service.now().toISOString()).toBe(
      true,
    );
    // … and absent once it has passed, although the item is still there.
    service.advance(49 * 60 * 60);
    expect(await json(await acme.get(`/v1/sessions/${id}/activations`))).toEqual({ activations: [] });
    expect((await json(await load(id)))['activation']).toMatchObject({ already_active: false });
  });
});

describe('sessions', () => {
  test('[J16] list, release one, release all; releasing is idempotent', async () => {
    await acme.put('/v1/bundles/extra', zipOf({ 'second/SKILL.md': skillMd('second') }));
    const id = 'any thing/#1 é';
    const path = `/v1/sessions/${encodeURIComponent(id)}`;
    await load(id);
    await acme.post('/v1/tools/load_skill', { name: 'second', context: { session_id: id } });
    const names = async () =>
      (
        (await json(await acme.get(`${path}/activations`)))['activations'] as {
          name: string;
          session_id: string;
        }[]
      ).map((one) => one.name);
    expect(await names()).toEqual(['review', 'second']);
    for (let round = 0; round < 2; round += 1) {
      expect((await acme.delete(`${path}/activations/second`)).status).toBe(204);
    }
    expect(await names()).toEqual(['review']);
    for (let round = 0; round < 2; round += 1) expect((await acme.delete(path)).status).toBe(204);
    expect(await names()).toEqual([]);
  });

  test.each(['', 'x'.repeat(257)])('refuses the session id %j', async (session_id) => {
    const refused = await acme.post('/v1/tools/load_skill', { name: 'review', context: { session_id } });
    expect(refused.status).toBe(422);
    expect(await json(refused)).toMatchObject({ code: 'invalid_request' });
  });
});
