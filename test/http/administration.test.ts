import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { zipOf } from '../support/archive-bytes.ts';
import type { Caller } from '../support/call.ts';
import { callerOf, json } from '../support/call.ts';
import type { TestService } from '../support/service.ts';
import { startService } from '../support/service.ts';
import { skillMd } from '../support/skills.ts';

let service: TestService;
let operator: Caller;

beforeEach(async () => {
  service = await startService();
  operator = callerOf(service.app, await service.issue('operator'));
});
afterEach(() => service.close());

const create = (id: string, name?: string) =>
  operator.post('/v1/admin/tenants', { id, ...(name && { name }) });
const issue = (tenant: string, body: object) => operator.post(`/v1/admin/tenants/${tenant}/keys`, body);
async function keyOf(
  tenant: string,
  scopes = ['catalog:read'],
): Promise<{ id: string; caller: Caller; key: string }> {
  const { id, key } = (await json(await issue(tenant, { scopes }))) as { id: string; key: string };
  return { id, key, caller: callerOf(service.app, key) };
}

describe('[D7] tenants', () => {
  test('are created once, listed by id, and their keys work', async () => {
    const created = await create('initech', 'Initech');
    expect(created.status).toBe(201);
    expect(await json(created)).toEqual({
      id: 'initech',
      name: 'Initech',
      status: 'active',
      created_at: expect.stringMatching(/^\d{4}-.+Z$/) as string,
    });
    expect((await create('initech')).status).toBe(409);
    await create('hooli');
    const { tenants } = (await json(await operator.get('/v1/admin/tenants'))) as {
      tenants: { id: string }[];
    };
    expect(tenants.map(({ id }) => id)).toEqual(['hooli', 'initech', 'operator']);
    const { caller } = await keyOf('initech');
    expect((await caller.get('/v1/catalog')).status).toBe(200);
  });

  test.each(['', 'A', 'a--b', 'a/b', '../x', 'shared', 'operator', 'builtin', 'x'.repeat(65)])(
    'the id %j is refused and nothing is made',
    async (id) => {
      expect((await create(id)).status).toBe(422);
      expect(await json(await operator.get('/v1/admin/tenants'))).toMatchObject({
        tenants: [{ id: 'operator' }],
      });
    },
  );

  test('of those created at once with one id exactly one is', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => create('once')));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array<number>(9).fill(409)]);
  });

  test('suspended, a tenant is told so at once here and within the freshness window elsewhere; then it goes on', async () => {
    await create('initech');
    const { key, caller } = await keyOf('initech', ['catalog:read', 'bundles:write']);
    await caller.put('/v1/bundles/main', zipOf({ 'a/SKILL.md': skillMd('a') }));
    const elsewhere = callerOf(service.anotherProcess(), key);
    expect((await elsewhere.get('/v1/catalog')).status).toBe(200);
    const suspended = await operator.post('/v1/admin/tenants/initech/suspend', {});
    expect(await json(suspended)).toMatchObject({ status: 'suspended' });
    expect((await operator.post('/v1/admin/tenants/initech/suspend', {})).status).toBe(200);
    const refused = await caller.get('/v1/catalog');
    expect([refused.status, (await json(refused))['detail']]).toEqual([403, 'This tenant is suspended.']);
    service.advance(6);
    expect((await elsewhere.get('/v1/catalog')).status).toBe(403);
    await operator.post('/v1/admin/tenants/initech/resume', {});
    expect(await json(await caller.get('/v1/catalog'))).toMatchObject({ total: 1 });
  });

  test('our own tenants are not suspended, and others that are not there are told', async () => {
    for (const [tenant, status] of [
      ['operator', 422],
      ['shared', 422],
      ['nobody', 404],
      ['..%2Fx', 404],
    ] as const) {
      expect((await operator.post(`/v1/admin/tenants/${tenant}/suspend`, {})).status).toBe(status);
    }
  });
});

describe('[D7] keys', () => {
  beforeEach(async () => {
    await create('initech');
  });

  test('are shown once, and listed without their secret', async () => {
    const expires_at = new Date(service.now().getTime() + 3_600_000).toISOString();
    const issued = await json(
      await issue('initech', { scopes: ['skills:load', 'catalog:read'], label: 'CI', expires_at }),
    );
    expect(issued).toMatchObject({ scopes: ['catalog:read', 'skills:load'], label: 'CI', tenant: 'initech' });
    const listing = await (await operator.get('/v1/admin/tenants/initech/keys')).text();
    expect(JSON.parse(listing)).toMatchObject({ keys: [{ id: issued['id'], label: 'CI' }] });
    const secret = String(issued['key']).split('_')[2] ?? '';
    expect(listing).not.toContain(secret);
    expect(listing).not.toMatch(/[0-9a-f]{64}/);
  });

  test('tell when they were last used, to within an hour', async () => {
    const { caller } = await keyOf('initech');
    const lastUsed = async () => {
      const { keys } = (await json(await operator.get('/v1/admin/tenants/initech/keys'))) as {
        keys: { last_used_at?: string }[];
      };
      return keys[0]?.last_used_at;
    };
    expect(await lastUsed()).toBeUndefined();
    await caller.get('/v1/catalog');
    const first = await lastUsed();
    expect(first).toBeDefined();
    service.counts.reset();
    for (let minute = 0; minute < 50; minute += 10) {
      service.advance(600);
      await caller.get('/v1/catalog');
    }
    expect(service.counts.table.set).toBe(0);
    service.advance(1_200);
    await caller.get('/v1/catalog');
    expect(await lastUsed()).not.toBe(first);
  });

  test('revoked, they are refused within the freshness window; again is nothing, another tenant’s is not there', async () => {
    const { id, caller } = await keyOf('initech');
    await create('hooli');
    expect((await caller.get('/v1/catalog')).status).toBe(200);
    expect((await operator.delete(`/v1/admin/tenants/hooli/keys/${id}`)).status).toBe(404);
    expect((await operator.delete('/v1/admin/tenants/initech/keys/abcdefghijkl')).status).toBe(404);
    const revoked = await json(await operator.delete(`/v1/admin/tenants/initech/keys/${id}`));
    service.advance(6);
    expect((await caller.get('/v1/catalog')).status).toBe(401);
    expect(await json(await operator.delete(`/v1/admin/tenants/initech/keys/${id}`))).toMatchObject({
      revoked_at: revoked['revoked_at'],
    });
  });

  test.each([
    [{ scopes: [] }, 'scopes'],
    [{ scopes: ['everything'] }, 'scopes.0'],
    [{ scopes: ['admin'] }, 'scopes'],
    [{ scopes: ['catalog:read'], expires_at: 'tomorrow' }, 'expires_at'],
    [{ scopes: ['catalog:read'], expires_at: '2020-01-01T00:00:00Z' }, 'expires_at'],
    [{ scopes: ['catalog:read'], label: '' }, 'label'],
    [{ scopes: ['catalog:read'], tenant: 'hooli' }, 'body'],
  ])('%j is refused, naming the place, and no key is made', async (body, parameter) => {
    const answer = await issue('initech', body);
    expect(answer.status).toBe(422);
    expect(await json(answer)).toMatchObject({ parameter });
    expect(await json(await operator.get('/v1/admin/tenants/initech/keys'))).toEqual({ keys: [] });
  });
});

describe('[D7] administration is the operator’s alone', () => {
  test('a tenant’s key with the scope admin, however it came to be, reaches nothing', async () => {
    const forged = callerOf(service.app, await service.issue('acme', ['admin', 'catalog:read']));
    expect((await forged.get('/v1/admin/tenants')).status).toBe(403);
    expect((await forged.post('/v1/admin/tenants', { id: 'x' })).status).toBe(403);
    expect((await forged.get('/v1/catalog')).status).toBe(200);
  });

  test('an operator’s key reaches no tenant’s routes, whatever its scopes', async () => {
    const wide = callerOf(
      service.app,
      await service.issue('operator', ['admin', 'catalog:read', 'bundles:write']),
    );
    expect((await wide.get('/v1/catalog')).status).toBe(403);
    expect((await wide.put('/v1/bundles/main', zipOf({ 'a/SKILL.md': skillMd('a') }))).status).toBe(403);
    expect((await wide.get('/v1/admin/tenants')).status).toBe(200);
  });

  test('an operator’s key issues another one, with admin alone', async () => {
    expect((await issue('operator', { scopes: ['admin', 'catalog:read'] })).status).toBe(422);
    expect((await issue('operator', { scopes: ['catalog:read'] })).status).toBe(422);
    const { caller } = await keyOf('operator', ['admin']);
    expect((await caller.get('/v1/admin/tenants')).status).toBe(200);
  });

  test('sets a tenant’s policy, which holds at once', async () => {
    await create('initech');
    const { caller } = await keyOf('initech', ['catalog:read', 'bundles:write', 'policy:write']);
    await caller.put('/v1/bundles/main', zipOf({ 'a/SKILL.md': skillMd('a') }));
    const set = await operator.request('/v1/admin/tenants/initech/policy', {
      method: 'PUT',
      body: '{"hidden":{"names":["a"]}}',
    });
    expect(await json(set)).toMatchObject({ version: 1 });
    expect(await json(await caller.get('/v1/catalog'))).toMatchObject({ total: 0 });
    expect(await json(await caller.get('/v1/policy'))).toMatchObject({
      version: 1,
      hidden: { names: ['a'] },
    });
    expect(await json(await operator.get('/v1/admin/tenants/initech/policy'))).toMatchObject({ version: 1 });
    expect((await operator.get('/v1/admin/tenants/nobody/policy')).status).toBe(404);
  });
});
