import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { zipOf } from '../support/archive-bytes.ts';
import type { Caller } from '../support/call.ts';
import { callerOf, json } from '../support/call.ts';
import type { TestService } from '../support/service.ts';
import { startService } from '../support/service.ts';
import { skillMd } from '../support/skills.ts';

let service: TestService;
let acme: Caller;
/** What an agent has. */
let agent: Caller;

beforeEach(async () => {
  service = await startService();
  acme = callerOf(service.app, await service.issue('acme'));
  agent = callerOf(service.app, await service.issue('acme', ['catalog:read', 'skills:load']));
});
afterEach(() => service.close());

const context = { session_id: 's' };
const publish = (bundle: string, files: Record<string, string>, query = '') =>
  acme.put(`/v1/bundles/${bundle}${query}`, zipOf(files));
const put = (policy: object, headers: Record<string, string> = {}) =>
  acme.request('/v1/policy', { method: 'PUT', body: JSON.stringify(policy), headers });
const namesOf = async (caller = agent, query = ''): Promise<string[]> => {
  const { skills } = (await json(await caller.get(`/v1/catalog${query}`))) as { skills: { name: string }[] };
  return skills.map(({ name }) => name);
};
const explain = async (skill: string) => json(await acme.get(`/v1/policy/explain?skill=${skill}`));
const tagged = (name: string, tags: string): string =>
  `---\nname: ${name}\ndescription: About ${name}.\nmetadata:\n  skillbucket.tags: ${tags}\n---\n# ${name}\n`;

/** Every way in which a tenant's agents could meet a skill. */
async function meet(name: string): Promise<Record<string, unknown>> {
  const load = await agent.post('/v1/tools/load_skill', { name, context: { session_id: 'meeting' } });
  await agent.delete('/v1/sessions/meeting');
  return {
    catalog: (await namesOf()).includes(name),
    prompt: (await (await agent.get('/v1/catalog/prompt')).text()).includes(`**${name}**`),
    search: (await namesOf(agent, `?q=${name}`)).includes(name),
    tools: (await (await agent.get('/v1/tools?enum=true')).text()).includes(`"${name}"`),
    diagnostics: (await (await agent.get('/v1/catalog/diagnostics')).text()).includes(name),
    bundles: (await (await agent.get('/v1/bundles/main')).text()).includes(name),
    revision: (await (await agent.get('/v1/bundles/main/revisions/1')).text()).includes(name),
    skill: (await agent.get(`/v1/skills/${name}`)).status,
    load: load.status,
  };
}
const ABSENT = {
  catalog: false,
  prompt: false,
  search: false,
  tools: false,
  diagnostics: false,
  bundles: false,
  revision: false,
  skill: 404,
  load: 404,
};

describe('[J3] roots', () => {
  beforeEach(async () => {
    await publish('main', { 'report/SKILL.md': skillMd('report', 'Of main.') });
    await publish('team', {
      'report/SKILL.md': skillMd('report', 'Of team.'),
      'plan/SKILL.md': skillMd('plan'),
    });
  });

  test('without a policy: all own bundles in name order; publishing was the decision, with who and when', async () => {
    const policy = (await json(await acme.get('/v1/policy'))) as { version: number; roots: object[] };
    expect(policy.version).toBe(0);
    expect(policy.roots).toEqual([
      { bundle: 'main', owner: 'self', trust: true, state: 'used' },
      { bundle: 'team', owner: 'self', trust: true, state: 'used' },
      { bundle: 'builtin', owner: 'builtin', trust: true, state: 'used' },
    ]);
    expect(await explain('report')).toMatchObject({
      visible: true,
      rule: 'trusted_root',
      roots: [
        { bundle: 'main', has_skill: true, decided_by: expect.any(String) as string },
        { bundle: 'team', has_skill: true, decided_at: expect.stringMatching(/^\d{4}-/) as string },
        { bundle: 'builtin', owner: 'builtin', has_skill: false },
      ],
    });
  });

  test('their order decides, and each decision keeps who made it and when for as long as it stays the same', async () => {
    const first = await json(
      await put({
        roots: [
          { bundle: 'team', trust: true },
          { bundle: 'main', trust: true },
        ],
      }),
    );
    const skill = await json(await agent.get('/v1/skills/report'));
    expect(skill).toMatchObject({ description: 'Of team.', bundle: 'team' });
    service.advance(60);
    const other = callerOf(service.app, await service.issue('acme', ['policy:write']));
    const body = JSON.stringify({
      roots: [
        { bundle: 'main', trust: false },
        { bundle: 'team', trust: true },
      ],
    });
    const second = await json(await other.request('/v1/policy', { method: 'PUT', body }));
    const [[teamBefore], [main, teamAfter]] = [first, second].map(
      (one) => one['roots'] as { decided_by: string; decided_at: string }[],
    ) as [[object], [{ decided_by: string; decided_at: string }, object]];
    expect(teamAfter).toEqual(teamBefore);
    expect(main.decided_by).toBe(second['updated_by']);
    expect(main.decided_by).not.toBe(first['updated_by']);
    expect(main.decided_at).toBe(second['updated_at']);
  });

  test('a root that is not trusted is left out and told of; its skills are absent, and cannot be loaded by naming it', async () => {
    await put({
      roots: [
        { bundle: 'team', trust: false },
        { bundle: 'main', trust: true },
      ],
    });
    expect(await namesOf()).toEqual(['report']);
    const { findings } = (await json(await agent.get('/v1/catalog/diagnostics'))) as {
      findings: { code: string; file: string }[];
    };
    expect(findings).toMatchObject([{ code: 'untrusted_skill_path', file: 'self/team' }]);
    expect(await explain('plan')).toMatchObject({ visible: false, rule: 'untrusted_root' });
    const load = await agent.post('/v1/tools/load_skill', {
      name: 'plan',
      context,
      bundles: ['team'],
      trust: true,
    });
    expect([load.status, (await json(load))['code']]).toEqual([403, 'untrusted_skill_path']);
  });

  test('an own bundle that is no root is not in the catalog, and may be loaded by naming it with trust', async () => {
    await put({ roots: [{ bundle: 'main', trust: true }] });
    expect(await namesOf()).toEqual(['report']);
    expect(await explain('plan')).toMatchObject({ visible: false, rule: 'no_such_skill' });
    const load = await agent.post('/v1/tools/load_skill', {
      name: 'plan',
      context,
      bundles: ['team'],
      trust: true,
    });
    expect(load.status).toBe(200);
  });

  test('a session that holds a skill of a root that lost its trust is told so', async () => {
    await agent.post('/v1/tools/load_skill', { name: 'plan', context });
    await put({ roots: [{ bundle: 'team', trust: false }] });
    const again = await agent.post('/v1/tools/load_skill', { name: 'plan', context });
    expect(again.status).toBe(404);
    expect(await json(again)).toMatchObject({
      code: 'skill_not_found',
      detail: 'The skill "plan" was removed since this session loaded it.',
    });
    expect(await json(await agent.get('/v1/sessions/s/activations'))).toMatchObject({
      activations: [{ name: 'plan', available: false }],
    });
  });
});

describe('[D7] hidden skills are absent everywhere', () => {
  const files = {
    'secret/SKILL.md': tagged('secret', 'internal finance'),
    'open/SKILL.md': skillMd('open'),
    'quiet/SKILL.md':
      '---\nname: quiet\ndescription: For people.\nmetadata:\n  skillbucket.disable-model-invocation: "true"\n---\n',
  };
  beforeEach(async () => {
    await publish('main', files);
  });

  test.each([
    ['by name', { names: ['secret'] }, 'hidden_name'],
    ['by tag', { tags: ['finance'] }, 'hidden_tag'],
  ])('%s', async (_, hidden, rule) => {
    expect(await meet('secret')).toMatchObject({ catalog: true, load: 200, skill: 200, bundles: true });
    await put({ hidden });
    expect(await meet('secret')).toEqual(ABSENT);
    expect(await namesOf()).toEqual(['open']);
    expect(await explain('secret')).toMatchObject({ visible: false, rule });
    const missing = await agent.post('/v1/tools/load_skill', { name: 'never-was', context });
    const hiddenOne = await agent.post('/v1/tools/load_skill', { name: 'secret', context });
    const blank = async (answer: Response, name: string) =>
      (await answer.text()).replaceAll(name, 'X').replaceAll(/"request_id":"[^"]+"/g, '');
    expect(await blank(hiddenOne, 'secret')).toBe(await blank(missing, 'never-was'));
    const named = await agent.post('/v1/tools/load_skill', {
      name: 'secret',
      context,
      bundles: ['main'],
      trust: true,
    });
    expect(named.status).toBe(404);
    // Whoever publishes or decides sees what there is.
    expect(await (await acme.get('/v1/bundles/main')).text()).toContain('"secret"');
  });

  test('by the author’s own wish, unless the policy says otherwise', async () => {
    expect(await meet('quiet')).toEqual(ABSENT);
    expect(await explain('quiet')).toMatchObject({ visible: false, rule: 'disable_model_invocation' });
    await put({ hidden: { disable_model_invocation: false } });
    expect(await meet('quiet')).toMatchObject({ catalog: true, prompt: true, load: 200 });
  });

  test('the field itself counts where lenient validation takes it', async () => {
    const lenient = '---\nname: shy\ndescription: For people.\ndisable-model-invocation: true\n---\n';
    const loud = lenient.replace('shy', 'loud').replace('true', 'false');
    await publish('more', { 'shy/SKILL.md': lenient, 'loud/SKILL.md': loud }, '?mode=lenient');
    expect(await namesOf()).toEqual(['loud', 'open', 'secret']);
  });

  test('no other skill takes the name of a hidden one', async () => {
    await publish('zz-later', { 'secret/SKILL.md': skillMd('secret', 'Another one.') });
    await put({ hidden: { tags: ['finance'] } });
    expect(await meet('secret')).toEqual(ABSENT);
  });

  test('a session that holds it gets no more of it', async () => {
    await publish('main', { ...files, 'secret/data.md': 'data' });
    await agent.post('/v1/tools/load_skill', { name: 'secret', context });
    const read = () =>
      agent.post('/v1/tools/load_skill_resource', { name: 'secret', relative_path: 'data.md', context });
    expect((await read()).status).toBe(200);
    await put({ hidden: { tags: ['finance'] } });
    expect((await read()).status).toBe(404);
    await put({});
    expect((await read()).status).toBe(200);
  });

  test('what was cached before is not confirmed', async () => {
    const before = new Map<string, string>();
    const paths = [
      '/v1/catalog',
      '/v1/catalog/prompt',
      '/v1/tools?enum=true',
      '/v1/bundles',
      '/v1/bundles/main',
    ];
    for (const path of paths) before.set(path, (await agent.get(path)).headers.get('etag') ?? '');
    await put({ hidden: { names: ['secret'] } });
    for (const [path, etag] of before) {
      expect([path, (await agent.get(path, { 'if-none-match': etag })).status]).toEqual([path, 200]);
    }
  });
});

describe('[J21] limits only tighten', () => {
  test.each([
    [{ resources: { max_resources: 257 } }, 'resources.max_resources'],
    [{ resources: { max_file_bytes: 2_000_000 } }, 'resources.max_file_bytes'],
    [{ resources: { max_depth: 0 } }, 'resources.max_depth'],
    [{ resources: { binary: 'allow' } }, 'resources.binary'],
    [{ resources: { max_speed: 1 } }, 'resources'],
    [{ max_tokens: 10_001 }, 'max_tokens'],
    [{ max_tokens: 0 }, 'max_tokens'],
    [{ max_tokens: true }, 'max_tokens'],
    [{ roots: [{ bundle: 'A/B', trust: true }] }, 'roots.0.bundle'],
    [{ roots: [{ bundle: 'main' }] }, 'roots.0.trust'],
    [
      {
        roots: [
          { bundle: 'main', trust: true },
          { bundle: 'main', trust: false },
        ],
      },
      'roots.1',
    ],
    [{ roots: [{ bundle: 'x', owner: 'shared', trust: true }] }, 'roots.0'],
    [{ roots: [{ bundle: 'x', owner: 'globex', trust: true }] }, 'roots.0.owner'],
    [{ hidden: { names: 'report' } }, 'hidden.names'],
    [{ validation: 'none' }, 'validation'],
    [{ root: [] }, 'body'],
  ])('%j is refused, naming the place, and nothing changes', async (policy, parameter) => {
    const answer = await put(policy);
    expect(answer.status).toBe(422);
    expect(await json(answer)).toMatchObject({ code: 'invalid_request', parameter });
    expect(await json(await acme.get('/v1/policy'))).toMatchObject({ version: 0 });
  });

  test('tighter ones hold for listing, reading and tokens', async () => {
    await publish('main', {
      'a/SKILL.md': skillMd('a', 'About a.', `# a\n${'word '.repeat(200)}`),
      'a/one.md': 'x'.repeat(100),
      'a/two.md': 'x',
    });
    await put({ resources: { max_resources: 1, max_text_bytes: 50 }, max_tokens: 20 });
    const loaded = (await json(
      await agent.post('/v1/tools/load_skill', { name: 'a', context, max_tokens: 500 }),
    )) as {
      resources: { resources: object[]; complete: boolean; truncation_reasons: string[]; limits: object };
    };
    expect(loaded).toMatchObject({ truncated: true, token_limit: 20 });
    expect(loaded.resources).toMatchObject({
      complete: false,
      truncation_reasons: ['max_resources'],
      limits: { max_resources: 1 },
    });
    expect(loaded.resources.resources).toHaveLength(1);
    const read = await agent.post('/v1/tools/load_skill_resource', {
      name: 'a',
      relative_path: 'one.md',
      context,
    });
    expect((await json(read))['code']).toBe('text_too_large');
  });

  test('a tenant may reject binary where the deployment allows it', async () => {
    const allowing = await startService({ resources: { binary: 'allow' } });
    try {
      const caller = callerOf(allowing.app, await allowing.issue('acme'));
      await caller.put(
        '/v1/bundles/main',
        zipOf({ 'a/SKILL.md': skillMd('a'), 'a/x.bin': Buffer.from([0, 255, 1]) }),
      );
      await caller.post('/v1/tools/load_skill', { name: 'a', context });
      const read = () =>
        caller.post('/v1/tools/load_skill_resource', { name: 'a', relative_path: 'x.bin', context });
      expect((await read()).status).toBe(200);
      await caller.request('/v1/policy', { method: 'PUT', body: '{"resources":{"binary":"reject"}}' });
      expect((await json(await read()))['code']).toBe('binary_rejected');
    } finally {
      await allowing.close();
    }
  });

  test('strict validation: lenient publishing is refused, and what was published so is left out', async () => {
    const lenient = '---\nname: old\ndescription: Old.\nextra: 1\n---\n';
    await publish('legacy', { 'old/SKILL.md': lenient }, '?mode=lenient');
    await publish('main', { 'new/SKILL.md': skillMd('new') });
    await agent.post('/v1/tools/load_skill', { name: 'old', context });
    await put({ validation: 'strict' });
    expect(await namesOf()).toEqual(['new']);
    expect(await explain('old')).toMatchObject({ visible: false, rule: 'published_leniently' });
    expect((await agent.post('/v1/tools/load_skill', { name: 'old', context })).status).toBe(404);
    expect((await publish('other', { 'old/SKILL.md': lenient }, '?mode=lenient')).status).toBe(403);
    const begun = await acme.post('/v1/bundles/other/uploads', {
      size: 1,
      sha256: 'a'.repeat(64),
      mode: 'lenient',
    });
    expect(begun.status).toBe(403);
    expect((await publish('other', { 'new/SKILL.md': skillMd('new') })).status).toBe(201);
  });
});

describe('changing it', () => {
  test('what was answered can be changed and sent back, with If-Match against lost changes', async () => {
    await publish('main', { 'a/SKILL.md': skillMd('a') });
    const read = await acme.get('/v1/policy');
    const etag = read.headers.get('etag') ?? '';
    const policy = await json(read);
    const changed = await put({ ...policy, hidden: { names: ['a'] } }, { 'if-match': etag });
    expect(changed.status).toBe(200);
    expect(await json(changed)).toMatchObject({ version: 1, hidden: { names: ['a'] } });
    const lost = await put({ ...policy }, { 'if-match': etag });
    expect([lost.status, (await json(lost))['code']]).toEqual([412, 'revision_conflict']);
    expect(await namesOf()).toEqual([]);
  });

  test('of changes at once all are applied, one after another', async () => {
    const answers = await Promise.all(
      Array.from({ length: 4 }, (_, index) => put({ hidden: { names: [`n-${index}`] } })),
    );
    const versions = await Promise.all(answers.map(async (one) => (await json(one))['version']));
    expect(versions.sort()).toEqual([1, 2, 3, 4]);
  });

  test('another warm process follows within the freshness window', async () => {
    await publish('main', { 'a/SKILL.md': skillMd('a') });
    const elsewhere = callerOf(service.anotherProcess(), await service.issue('acme'));
    expect(await namesOf(elsewhere)).toEqual(['a']);
    await put({ hidden: { names: ['a'] } });
    service.advance(6);
    expect(await namesOf(elsewhere)).toEqual([]);
  });

  test('agents neither read nor change it, and other tenants are not touched by it', async () => {
    const globex = callerOf(service.app, await service.issue('globex'));
    await globex.put('/v1/bundles/main', zipOf({ 'a/SKILL.md': skillMd('a') }));
    for (const path of ['/v1/policy', '/v1/policy/explain?skill=a']) {
      expect((await agent.get(path)).status).toBe(403);
    }
    expect((await agent.request('/v1/policy', { method: 'PUT', body: '{}' })).status).toBe(403);
    await put({ hidden: { names: ['a'] }, roots: [] });
    expect(await namesOf(globex)).toEqual(['a']);
    expect(await json(await globex.get('/v1/policy'))).toMatchObject({ version: 0 });
  });

  test('explaining needs a name', async () => {
    expect((await acme.get('/v1/policy/explain')).status).toBe(422);
    expect(await explain('..%2F..%2Fx')).toMatchObject({ visible: false, rule: 'no_such_skill' });
  });
});

test('[J25] allowed-tools is told and decides nothing: the same tools, resources and answers with it as without', async () => {
  const withTools = '---\nname: a\ndescription: About a.\nallowed-tools: Bash(rm *) load_skill\n---\n# a\n';
  const tools = await (await agent.get('/v1/tools')).text();
  await publish('main', { 'a/SKILL.md': withTools, 'a/x.md': 'x', 'b/SKILL.md': skillMd('b') });
  const loaded = await agent.post('/v1/tools/load_skill', { name: 'a', context });
  expect(await json(loaded)).toMatchObject({ allowed_tools: ['Bash(rm *)', 'load_skill'] });
  const read = await agent.post('/v1/tools/load_skill_resource', {
    name: 'a',
    relative_path: 'x.md',
    context,
  });
  expect(read.status).toBe(200);
  expect((await agent.post('/v1/tools/load_skill', { name: 'b', context })).status).toBe(200);
  expect(await (await agent.get('/v1/tools')).text()).toBe(tools);
});
