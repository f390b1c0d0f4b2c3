import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ROUTES } from '../../src/http/route-table.ts';
import { dynamoCredentialStore } from '../../src/tenancy/credential-store.ts';
import { readKey } from '../../src/tenancy/api-keys.ts';
import { newTenantId } from '../../src/tenancy/reserved-tenants.ts';
import { zipOf } from '../support/archive-bytes.ts';
import type { Caller } from '../support/call.ts';
import { callerOf, json } from '../support/call.ts';
import type { TestService } from '../support/service.ts';
import { startService } from '../support/service.ts';
import { skillMd } from '../support/skills.ts';

let service: TestService;
let acme: Caller;
let key: string;

beforeAll(async () => {
  service = await startService();
  key = await service.issue('acme');
  acme = callerOf(service.app, key);
  await acme.put('/v1/bundles/main', zipOf({ 'demo/SKILL.md': skillMd('demo') }));
});
afterAll(() => service.close());

const pathOf = (path: string): string => path.replaceAll(/:[a-z]+/g, 'demo');

describe('credentials', () => {
  const guarded = ROUTES.filter((route) => route.scope !== 'public');

  test.each(guarded.map((route) => [route.method, route.path]))('%s %s needs one', async (method, path) => {
    for (const authorization of [
      undefined,
      '',
      'Bearer',
      'Bearer x',
      `Basic ${key}`,
      `Bearer ${key}x`,
      `Bearer sb_abc_def`,
    ]) {
      const answer = await service.app.request(pathOf(path), {
        method,
        ...(authorization === undefined ? {} : { headers: { authorization } }),
      });
      expect(answer.status).toBe(401);
      expect(answer.headers.get('www-authenticate')).toContain('Bearer');
      expect(await json(answer)).toMatchObject({ code: 'unauthenticated' });
    }
  });

  test.each(guarded.map((route) => [route.method, route.path, route.scope] as const))(
    '%s %s needs the scope %s',
    async (method, path, scope) => {
      const others = (['catalog:read', 'skills:load', 'bundles:write', 'runtime:write'] as const).filter(
        (one) => one !== scope,
      );
      const limited = callerOf(service.app, await service.issue('acme', others));
      const answer = await limited.request(pathOf(path), { method });
      expect(answer.status).toBe(403);
      expect(await json(answer)).toMatchObject({ code: 'forbidden' });
    },
  );

  test('health needs none; unknown paths tell nothing without one', async () => {
    expect((await service.app.request('/healthz')).status).toBe(200);
    expect(await json(await service.app.request('/readyz'))).toEqual({ status: 'ready' });
    expect((await service.app.request('/v1/secret')).status).toBe(401);
    const known = await acme.get('/v1/secret');
    expect(known.status).toBe(404);
    expect(await json(known)).toMatchObject({ code: 'not_found' });
  });

  test('expired and revoked keys and suspended tenants are refused within the freshness window', async () => {
    const credentials = dynamoCredentialStore(service.table);
    const id = newTenantId('soon-gone');
    const changed = await service.issue('soon-gone');
    const caller = callerOf(service.app, changed);
    expect((await caller.get('/v1/catalog')).status).toBe(200);
    const record = { id, name: 'x', created_at: 0 };
    await credentials.changeTenant({ ...record, status: 'suspended' }, 'active');
    service.advance(6);
    expect((await caller.get('/v1/catalog')).status).toBe(403);
    await credentials.changeTenant({ ...record, status: 'active' }, 'suspended');
    expect((await caller.get('/v1/catalog')).status).toBe(200);
    const { secretHash = '', id: keyId = '' } = readKey(changed) ?? {};
    const seconds = Math.floor(service.now().getTime() / 1000);
    await credentials.saveKey(secretHash, {
      id: keyId,
      tenant: id,
      scopes: ['catalog:read'],
      created_at: 0,
      expires_at: seconds + 60,
    });
    service.advance(6);
    expect((await caller.get('/v1/catalog')).status).toBe(200);
    service.advance(60);
    expect((await caller.get('/v1/catalog')).status).toBe(401);
  });
});

describe('requests that are wrong', () => {
  test('malformed JSON is 400, a wrong shape 422 naming the place', async () => {
    const post = (body: string) => acme.request('/v1/tools/load_skill', { method: 'POST', body });
    for (const body of ['', '{', 'nul', '{"name":"demo"']) {
      const answer = await post(body);
      expect(answer.status).toBe(400);
      expect(await json(answer)).toMatchObject({ code: 'invalid_request', status: 400 });
    }
    for (const [body, parameter] of [
      ['[]', 'body'],
      ['null', 'body'],
      ['{"context":{"session_id":"s"}}', 'name'],
      ['{"name":5,"context":{"session_id":"s"}}', 'name'],
      ['{"name":"demo","context":{"session_id":7}}', 'context.session_id'],
      ['{"name":"demo","context":{"session_id":"s"},"force":"yes"}', 'force'],
    ]) {
      const answer = await post(body ?? '');
      expect(answer.status).toBe(422);
      expect(await json(answer)).toMatchObject({ code: 'invalid_request', parameter });
    }
    const extra = await post('{"name":"demo","tenant":"globex","context":{"session_id":"s"}}');
    expect(extra.status).toBe(422);
  });

  test('a method that a path does not have is 405 with Allow', async () => {
    const answer = await acme.request('/v1/catalog', { method: 'POST', body: '{}' });
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toBe('GET, HEAD');
  });

  test('a path that is not valid UTF-8 is 400', async () => {
    for (const path of ['/v1/skills/%ff', '/v1/sessions/%E0%A4%A/activations']) {
      expect((await acme.get(path)).status).toBe(400);
    }
  });

  test('a body that is too large is refused by its length, and by counting when none is told', async () => {
    const told = await acme.request('/v1/tools/load_skill', {
      method: 'POST',
      headers: { 'content-length': '999999999' },
      body: '{}',
    });
    expect(told.status).toBe(413);
    let pulled = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        pulled += 1;
        controller.enqueue(new Uint8Array(65_536).fill(0x20));
      },
    });
    const untold = await acme.request('/v1/tools/load_skill', {
      method: 'POST',
      body: endless,
      duplex: 'half',
    });
    expect(untold.status).toBe(413);
    expect(await json(untold)).toMatchObject({ code: 'payload_too_large', limit: 262_144 });
    expect(pulled).toBeLessThan(20);
  });
});

describe('answers', () => {
  test('carry a request id, echoed when it is harmless', async () => {
    const echoed = await acme.get('/v1/catalog', { 'x-request-id': 'my-id-1' });
    expect(echoed.headers.get('x-request-id')).toBe('my-id-1');
    const refused = await acme.get('/v1/nothing', { 'x-request-id': 'my-id-2' });
    expect(refused.headers.get('x-request-id')).toBe('my-id-2');
    expect(await json(refused)).toMatchObject({ request_id: 'my-id-2' });
    const long = await acme.get('/v1/catalog', { 'x-request-id': 'x'.repeat(200) });
    expect(long.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  });

  test('problems are RFC 9457 and hold nothing of the inside', async () => {
    const answer = await acme.get('/v1/skills/nope');
    expect(answer.headers.get('content-type')).toBe('application/problem+json');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const body = await json(answer);
    expect(Object.keys(body)).toEqual(
      expect.arrayContaining(['type', 'title', 'status', 'detail', 'code', 'request_id']),
    );
    expect(JSON.stringify(body)).not.toMatch(/node_modules|\.ts:|\n *at /);
  });

  test('every request leaves one log line with tenant, route and outcome, and no secret', async () => {
    service.logs.length = 0;
    await acme.get('/v1/catalog', { 'x-request-id': 'log-1' });
    await acme.post('/v1/tools/load_skill', { name: 'nope', context: { session_id: 'private words' } });
    await service.app.request('/v1/catalog', {
      headers: { authorization: `Bearer ${key}` },
      method: 'DELETE',
    });
    expect(
      service.logs.map((line) => [
        line['tenant'],
        line['method'],
        line['route'],
        line['status'],
        line['code'],
      ]),
    ).toEqual([
      ['acme', 'GET', '/v1/catalog', 200, undefined],
      ['acme', 'POST', '/v1/tools/load_skill', 404, 'skill_not_found'],
      [undefined, 'DELETE', '/v1/catalog', 405, 'invalid_request'],
    ]);
    expect(service.logs[0]).toMatchObject({ request_id: 'log-1', ms: expect.any(Number) as number });
    const text = JSON.stringify(service.logs);
    expect(text).not.toContain(key.slice(16));
    expect(text).not.toContain('private words');
  });
});
