import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { zipOf } from '../support/archive-bytes.ts';
import type { Caller } from '../support/call.ts';
import { callerOf, json } from '../support/call.ts';
import type { TestService } from '../support/service.ts';
import { startService } from '../support/service.ts';
import { skillMd } from '../support/skills.ts';

let service: TestService;
let operator: Caller;
/** Publishes what is shared. */
let library: Caller;
let acme: Caller;
let globex: Caller;

beforeEach(async () => {
  service = await startService();
  operator = callerOf(service.app, await service.issue('operator'));
  library = callerOf(service.app, await service.issue('shared'));
  acme = callerOf(service.app, await service.issue('acme'));
  globex = callerOf(service.app, await service.issue('globex'));
  await library.put(
    '/v1/bundles/style',
    zipOf({ 'tone/SKILL.md': skillMd('tone', 'First.'), 'tone/words.md': 'w' }),
  );
});
afterEach(() => service.close());

const context = { session_id: 's' };
const grant = (tenant: string, bundle = 'style') =>
  operator.request(`/v1/admin/tenants/${tenant}/grants/${bundle}`, { method: 'PUT' });
const withdraw = (tenant: string) => operator.delete(`/v1/admin/tenants/${tenant}/grants/style`);
const trust = (caller: Caller) =>
  caller.request('/v1/policy', {
    method: 'PUT',
    body: JSON.stringify({ roots: [{ bundle: 'style', owner: 'shared', trust: true }] }),
  });
const namesOf = async (caller: Caller): Promise<string[]> => {
  const { skills } = (await json(await caller.get('/v1/catalog'))) as { skills: { name: string }[] };
  return skills.map(({ name }) => name);
};
const load = (caller: Caller) => caller.post('/v1/tools/load_skill', { name: 'tone', context });

describe('[D7] a shared bundle', () => {
  test('is there for a tenant that it is granted to and that trusts it, by reference, resources too', async () => {
    expect((await trust(acme)).status).toBe(422);
    expect(await json(await grant('acme'))).toMatchObject({
      bundle: 'style',
      granted_at: expect.any(String) as string,
    });
    expect(await namesOf(acme)).toEqual([]);
    expect((await trust(acme)).status).toBe(200);
    expect(await json(await acme.get('/v1/skills/tone'))).toMatchObject({
      location: 'bundle://shared/style/tone',
      owner: 'shared',
    });
    expect((await load(acme)).status).toBe(200);
    const read = await acme.post('/v1/tools/load_skill_resource', {
      name: 'tone',
      relative_path: 'words.md',
      context,
    });
    expect(await json(read)).toMatchObject({ content: 'w' });
    expect(service.counts.objects.keys.filter((key) => key.startsWith('tenants/acme/files/'))).toEqual([]);
  });

  test('is not there for anybody else, and asking for it tells nothing', async () => {
    await grant('acme');
    await trust(acme);
    expect(await namesOf(globex)).toEqual([]);
    const refused = await trust(globex);
    const never = await globex.request('/v1/policy', {
      method: 'PUT',
      body: JSON.stringify({ roots: [{ bundle: 'never', owner: 'shared', trust: true }] }),
    });
    const text = async (answer: Response, name: string) =>
      (await answer.text()).replaceAll(name, 'X').replace(/"request_id":"[^"]+"/, '');
    expect([refused.status, await text(refused, 'style')]).toEqual([
      never.status,
      await text(never, 'never'),
    ]);
    for (const bundles of [['style'], ['shared/style'], ['shared']]) {
      const answer = await globex.post('/v1/tools/load_skill', {
        name: 'tone',
        context,
        bundles,
        trust: true,
      });
      expect([404, 422]).toContain(answer.status);
    }
  });

  test('reaches its tenants within the freshness window when it changes; sessions keep what they loaded', async () => {
    await grant('acme');
    await trust(acme);
    await load(acme);
    await library.put('/v1/bundles/style', zipOf({ 'tone/SKILL.md': skillMd('tone', 'Second.') }));
    service.advance(6);
    expect(await json(await acme.get('/v1/skills/tone'))).toMatchObject({ description: 'Second.' });
    expect(await json(await load(acme))).toMatchObject({
      description: 'First.',
      activation: { already_active: true, stale: true },
    });
  });

  test('withdrawn, it is absent within the freshness window, and a session that holds it is told', async () => {
    await grant('acme');
    await trust(acme);
    await load(acme);
    const elsewhere = callerOf(service.anotherProcess(), await service.issue('acme'));
    expect(await namesOf(elsewhere)).toEqual(['tone']);
    expect((await withdraw('acme')).status).toBe(204);
    expect(await namesOf(acme)).toEqual([]);
    service.advance(6);
    expect(await namesOf(elsewhere)).toEqual([]);
    const again = await load(acme);
    expect([again.status, (await json(again))['detail']]).toEqual([
      404,
      'The skill "tone" was removed since this session loaded it.',
    ]);
    const read = await acme.post('/v1/tools/load_skill_resource', {
      name: 'tone',
      relative_path: 'words.md',
      context,
    });
    expect(read.status).toBe(404);
    expect(await json(await acme.get('/v1/sessions/s/activations'))).toMatchObject({
      activations: [{ name: 'tone', available: false }],
    });
    expect(await json(await acme.get('/v1/policy/explain?skill=tone'))).toMatchObject({
      rule: 'not_granted',
    });
    expect(await json(await acme.get('/v1/catalog/diagnostics'))).toMatchObject({
      findings: [{ code: 'not_found', file: 'shared/style' }],
    });
  });

  test('a tenant’s own bundle of the same name is another one', async () => {
    await grant('acme');
    await acme.put('/v1/bundles/style', zipOf({ 'tone/SKILL.md': skillMd('tone', 'Our own.') }));
    await trust(acme);
    expect(await json(await acme.get('/v1/skills/tone'))).toMatchObject({
      owner: 'shared',
      description: 'First.',
    });
    await acme.request('/v1/policy', {
      method: 'PUT',
      body: JSON.stringify({
        roots: [
          { bundle: 'style', trust: true },
          { bundle: 'style', owner: 'shared', trust: true },
        ],
      }),
    });
    expect(await json(await acme.get('/v1/skills/tone'))).toMatchObject({
      owner: 'acme',
      description: 'Our own.',
    });
    const { findings } = (await json(await acme.get('/v1/catalog/diagnostics'))) as { findings: object[] };
    expect(findings).toMatchObject([{ code: 'shadowed_skill', file: 'bundle://shared/style/tone/SKILL.md' }]);
  });

  test('granting again keeps who granted first; a bundle or tenant that is not there is told', async () => {
    const first = await json(await grant('acme'));
    service.advance(100);
    expect(await json(await grant('acme'))).toEqual(first);
    expect((await grant('acme', 'never')).status).toBe(404);
    expect((await grant('nobody')).status).toBe(404);
    expect((await grant('shared')).status).toBe(422);
    expect((await withdraw('globex')).status).toBe(204);
    expect(await json(await operator.get('/v1/admin/tenants/acme'))).toMatchObject({ grants: [first] });
  });
});
