import { afterAll, beforeAll, expect, test } from 'vitest';
import { zipOf } from '../support/archive-bytes.ts';
import type { Caller } from '../support/call.ts';
import { callerOf, json } from '../support/call.ts';
import type { TestService } from '../support/service.ts';
import { startService } from '../support/service.ts';
import { skillMd } from '../support/skills.ts';

let service: TestService;
const callers = new Map<string, Caller>();

/** The same names everywhere; every text holds its owner's word. */
const filesOf = (owner: string, round: number): Record<string, string> => ({
  'report/SKILL.md': skillMd('report', `For ${owner} only, ${round}.`, `# Of ${owner} ${round}\n`),
  'report/references/data.md': `data of ${owner} ${round}`,
});

beforeAll(async () => {
  service = await startService();
  for (const tenant of ['acme', 'globex']) {
    const caller = callerOf(service.app, await service.issue(tenant));
    callers.set(tenant, caller);
    await caller.put('/v1/bundles/main', zipOf(filesOf(tenant, 0)));
  }
});
afterAll(() => service.close());

test('two tenants with skills of the same name never see each other’s, in one warm process under parallel load', async () => {
  const foreign: string[] = [];
  let checked = 0;

  async function use(tenant: string, caller: Caller, session: string): Promise<void> {
    const other = tenant === 'acme' ? 'globex' : 'acme';
    const context = { session_id: session };
    const answers = [
      await caller.get('/v1/catalog'),
      await caller.get('/v1/catalog/prompt'),
      await caller.get('/v1/catalog?q=report'),
      await caller.get('/v1/skills/report'),
      await caller.get('/v1/bundles/main'),
      await caller.get('/v1/tools?enum=true'),
      await caller.post('/v1/tools/load_skill', { name: 'report', context, force: true }),
      await caller.post('/v1/tools/load_skill_resource', {
        name: 'report',
        relative_path: 'references/data.md',
        context,
      }),
      await caller.get(`/v1/sessions/${session}/activations`),
    ];
    for (const answer of answers) {
      expect(answer.status).toBe(200);
      const text = await answer.text();
      checked += 1;
      if (text.includes(other)) foreign.push(text);
    }
  }

  for (let round = 1; round <= 4; round += 1) {
    await Promise.all(
      [...callers].flatMap(([tenant, caller]) => [
        caller.put('/v1/bundles/main', zipOf(filesOf(tenant, round))),
        // The same session ids on both sides.
        ...Array.from({ length: 10 }, (_, index) => use(tenant, caller, `session-${round}-${index}`)),
      ]),
    );
    service.advance(6);
  }
  expect(foreign).toEqual([]);
  expect(checked).toBe(4 * 2 * 10 * 9);
});

test('what is another tenant’s is answered like what never was', async () => {
  const acme = callers.get('acme');
  const globex = callers.get('globex');
  if (acme === undefined || globex === undefined) throw new Error('no callers');
  await acme.put('/v1/bundles/private', zipOf({ 'hidden/SKILL.md': skillMd('hidden') }));
  await acme.post('/v1/tools/load_skill', { name: 'hidden', context: { session_id: 'mine' } });
  const same = async (make: (name: string, bundle: string, session: string) => Promise<Response>) => {
    const theirs = await make('hidden', 'private', 'mine');
    const never = await make('hidden', 'never', 'never');
    const strip = (body: Record<string, unknown>) => ({
      ...body,
      request_id: '',
      detail: String(body['detail']).replaceAll(/private|never|mine/g, ''),
    });
    expect(theirs.status).toBe(never.status);
    if (theirs.status !== 204) expect(strip(await json(theirs))).toEqual(strip(await json(never)));
  };
  await same((_, bundle) => globex.get(`/v1/bundles/${bundle}`));
  await same((_, bundle) => globex.get(`/v1/bundles/${bundle}/revisions`));
  await same((_, bundle) => globex.get(`/v1/bundles/${bundle}/revisions/1`));
  await same((_, bundle) => globex.post(`/v1/bundles/${bundle}/rollback`, { revision: 1 }));
  await same((name, _, session) =>
    globex.post('/v1/tools/load_skill', { name, context: { session_id: session } }),
  );
  await same((name, bundle, session) =>
    globex.post('/v1/tools/load_skill', {
      name,
      context: { session_id: session },
      bundles: [bundle],
      trust: true,
    }),
  );
  await same((name, _, session) =>
    globex.post('/v1/tools/load_skill_resource', {
      name,
      relative_path: 'x',
      context: { session_id: session },
    }),
  );
  await same((_, __, session) => globex.get(`/v1/sessions/${session}/activations`));
  await same((_, __, session) => globex.delete(`/v1/sessions/${session}`));
  const still = await json(await acme.get('/v1/sessions/mine/activations'));
  expect(still['activations']).toHaveLength(1);
});
