import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { tarGzOf, zipOf } from '../support/archive-bytes.ts';
import type { Caller } from '../support/call.ts';
import { callerOf, json } from '../support/call.ts';
import type { TestService } from '../support/service.ts';
import { startService } from '../support/service.ts';
import { skillMd } from '../support/skills.ts';

let service: TestService;
let acme: Caller;

/** a-skill … e-skill, two of them tagged. */
function fiveSkills(): Record<string, string> {
  const files: Record<string, string> = {};
  for (const letter of ['e', 'c', 'a', 'd', 'b']) {
    const tags = letter < 'c' ? 'support writing' : 'support';
    files[`${letter}-skill/SKILL.md`] =
      `---\nname: ${letter}-skill\ndescription: Does ${letter} things for invoices.\nmetadata:\n  skillbucket.tags: "${tags}"\n  skillbucket.version: "1.10"\n---\n# ${letter}\nBody of ${letter}\n`;
  }
  return files;
}

beforeAll(async () => {
  service = await startService();
  acme = callerOf(service.app, await service.issue('acme'));
  const published = await acme.put('/v1/bundles/main', zipOf(fiveSkills()));
  expect(published.status).toBe(201);
});
afterAll(() => service.close());

describe('GET /v1/catalog', () => {
  test('[D2] lists descriptors in name order, metadata only', async () => {
    const answer = await acme.get('/v1/catalog');
    expect(answer.status).toBe(200);
    const body = await json(answer);
    expect(body['total']).toBe(5);
    const skills = body['skills'] as Record<string, unknown>[];
    expect(skills.map((skill) => skill['name'])).toEqual([
      'a-skill',
      'b-skill',
      'c-skill',
      'd-skill',
      'e-skill',
    ]);
    expect(skills[0]).toMatchObject({
      location: 'bundle://acme/main/a-skill',
      bundle: 'main',
      owner: 'acme',
    });
    expect(JSON.stringify(body)).not.toContain('Body of');
  });

  test('[J24] tags and version come from namespaced metadata', async () => {
    const body = await json(await acme.get('/v1/catalog?limit=1'));
    expect((body['skills'] as unknown[])[0]).toMatchObject({ tags: ['support', 'writing'], version: '1.10' });
  });

  test('filters by tags, any or all', async () => {
    const any = await json(await acme.get('/v1/catalog?tags=writing&tags=support'));
    expect(any['total']).toBe(5);
    const all = await json(await acme.get('/v1/catalog?tags=writing&tags=support&tag_match=all'));
    expect(all['total']).toBe(2);
  });

  test('ranks with q, best match first', async () => {
    const body = await json(await acme.get('/v1/catalog?q=d-skill'));
    expect((body['skills'] as { name: string }[])[0]?.name).toBe('d-skill');
    expect((await json(await acme.get('/v1/catalog?q=invoice')))['total']).toBe(5);
    expect((await json(await acme.get('/v1/catalog?q=zebra')))['total']).toBe(0);
  });

  test('pages by cursor without repeating or skipping', async () => {
    const names: string[] = [];
    let cursor: string | undefined;
    do {
      const query = cursor === undefined ? '' : `&cursor=${cursor}`;
      const body = await json(await acme.get(`/v1/catalog?limit=2${query}`));
      names.push(...(body['skills'] as { name: string }[]).map((skill) => skill.name));
      cursor = body['next_cursor'] as string | undefined;
    } while (cursor !== undefined);
    expect(names).toEqual(['a-skill', 'b-skill', 'c-skill', 'd-skill', 'e-skill']);
  });

  test('a cursor is refused for another query, another tenant, and when it is none', async () => {
    const { next_cursor } = await json(await acme.get('/v1/catalog?limit=2'));
    const globex = callerOf(service.app, await service.issue('globex'));
    for (const answer of [
      await acme.get(`/v1/catalog?limit=2&tags=support&cursor=${String(next_cursor)}`),
      await globex.get(`/v1/catalog?limit=2&cursor=${String(next_cursor)}`),
      await acme.get('/v1/catalog?cursor=bogus'),
    ]) {
      expect(answer.status).toBe(422);
      expect(await json(answer)).toMatchObject({ code: 'invalid_request', parameter: 'cursor' });
    }
  });

  test.each(['limit=0', 'limit=201', 'limit=abc', 'limit=1&limit=2', 'tag_match=some', 'limit=1.5'])(
    'refuses ?%s and names the parameter',
    async (query) => {
      const answer = await acme.get(`/v1/catalog?${query}`);
      expect(answer.status).toBe(422);
      expect(await json(answer)).toMatchObject({ code: 'invalid_request', parameter: query.split('=')[0] });
    },
  );

  test('answers 304 to its ETag in every form of If-None-Match, and 200 to another', async () => {
    const etag = (await acme.get('/v1/catalog')).headers.get('etag') ?? '';
    expect(etag).toMatch(/^"[^"]+"$/);
    for (const header of [etag, `W/${etag}`, '*', `"other", ${etag}`]) {
      const answer = await acme.get('/v1/catalog', { 'if-none-match': header });
      expect(answer.status).toBe(304);
      expect(answer.headers.get('etag')).toBe(etag);
      expect(await answer.text()).toBe('');
    }
    expect((await acme.get('/v1/catalog', { 'if-none-match': '"other"' })).status).toBe(200);
  });

  test.each([
    '/v1/catalog',
    '/v1/catalog/prompt',
    '/v1/catalog/diagnostics',
    '/v1/skills/a-skill',
    '/v1/tools',
    '/v1/bundles',
    '/v1/bundles/main',
  ])('HEAD %s has the headers of GET and no body', async (path) => {
    const get = await acme.get(path);
    const head = await acme.request(path, { method: 'HEAD' });
    expect(head.status).toBe(200);
    expect(await head.text()).toBe('');
    for (const name of ['etag', 'content-type', 'content-length', 'cache-control']) {
      expect(head.headers.get(name)).toBe(get.headers.get(name));
    }
    expect(Number(get.headers.get('content-length'))).toBe((await get.arrayBuffer()).byteLength);
  });

  test('an empty catalog is an empty list and an empty prompt', async () => {
    const empty = callerOf(service.app, await service.issue('empty'));
    expect(await json(await empty.get('/v1/catalog'))).toMatchObject({ skills: [], total: 0 });
    const prompt = await empty.get('/v1/catalog/prompt');
    expect(prompt.status).toBe(200);
    expect(await prompt.text()).toBe('');
    expect(prompt.headers.get('x-skills-total')).toBe('0');
  });
});

describe('[D1] the request path', () => {
  test('a warm catalog reads nothing inside the window and makes one conditional read after it', async () => {
    await acme.get('/v1/catalog');
    service.counts.reset();
    for (let round = 0; round < 5; round += 1) await acme.get(`/v1/catalog?limit=${round + 1}`);
    expect(service.counts.objects).toMatchObject({ get: 0, put: 0, list: 0 });
    expect(service.counts.table).toMatchObject({ get: 0, put: 0, query: 0 });
    service.advance(6);
    await Promise.all([
      acme.get('/v1/catalog'),
      acme.get('/v1/catalog/prompt'),
      acme.get('/v1/skills/a-skill'),
    ]);
    expect(service.counts.objects).toMatchObject({ get: 1, unmodified: 1, bytes: 0, list: 0 });
  });

  test('never lists the bucket, whatever is asked', async () => {
    service.counts.reset();
    const app = callerOf(service.anotherProcess(), await service.issue('acme'));
    for (const path of [
      '/v1/catalog',
      '/v1/catalog/prompt',
      '/v1/catalog/diagnostics',
      '/v1/bundles',
      '/v1/bundles/main/revisions',
    ]) {
      expect((await app.get(path)).status).toBe(200);
    }
    await app.post('/v1/tools/load_skill', { name: 'a-skill', context: { session_id: 'no-list' } });
    expect(service.counts.objects.list).toBe(0);
  });

  test('another process sees a publication after its window, the publisher at once', async () => {
    const other = callerOf(service.anotherProcess(), await service.issue('fresh'));
    const publisher = callerOf(service.app, await service.issue('fresh'));
    expect(await json(await other.get('/v1/catalog'))).toMatchObject({ total: 0 });
    await publisher.put('/v1/bundles/one', tarGzOf({ 'x/SKILL.md': skillMd('x') }));
    expect(await json(await publisher.get('/v1/catalog'))).toMatchObject({ total: 1 });
    service.advance(6);
    expect(await json(await other.get('/v1/catalog'))).toMatchObject({ total: 1 });
    await publisher.put(
      '/v1/bundles/one',
      tarGzOf({ 'x/SKILL.md': skillMd('x'), 'y/SKILL.md': skillMd('y') }),
    );
    service.advance(6);
    expect(await json(await other.get('/v1/catalog'))).toMatchObject({ total: 2 });
  });
});

describe('GET /v1/catalog/prompt', () => {
  test('[N8] whole entries within the budget, with a notice; what is left out can still be loaded', async () => {
    const full = await acme.get('/v1/catalog/prompt');
    expect(full.headers.get('x-skills-shown')).toBe('5');
    const short = await acme.get('/v1/catalog/prompt?max_tokens=100');
    const text = await short.text();
    const shown = Number(short.headers.get('x-skills-shown'));
    expect(shown).toBeLessThan(5);
    expect(Number(short.headers.get('x-estimated-tokens'))).toBeLessThanOrEqual(100);
    expect(Math.ceil(Buffer.byteLength(text) / 4)).toBe(Number(short.headers.get('x-estimated-tokens')));
    expect(text).toContain(`${5 - shown} of 5`);
    const loaded = await acme.post('/v1/tools/load_skill', {
      name: 'e-skill',
      context: { session_id: 'left-out' },
    });
    expect(loaded.status).toBe(200);
  });

  test('takes format, header, load instruction and location', async () => {
    const answer = await acme.get(
      '/v1/catalog/prompt?format=xml&include_location=true&header=My%20skills&load_instruction=Call%20it.',
    );
    const text = await answer.text();
    expect(text.startsWith('My skills\nCall it.\n<available_skills>\n')).toBe(true);
    expect(text).toContain('<location>bundle://acme/main/a-skill</location>');
  });

  test('a budget that not even the wrapper fits is refused', async () => {
    const answer = await acme.get('/v1/catalog/prompt?max_tokens=1');
    expect(answer.status).toBe(422);
    expect(await json(answer)).toMatchObject({ code: 'invalid_request' });
  });
});

describe('GET /v1/skills/{name} and /v1/tools', () => {
  test('tells owner bundle, revision, digest, files and bytes', async () => {
    const body = await json(await acme.get('/v1/skills/a-skill'));
    expect(body).toMatchObject({ name: 'a-skill', bundle: 'main', revision: 1, file_count: 1, findings: [] });
    expect(body['digest']).toMatch(/^sha256:[0-9a-f]{64}$/);
  });

  test.each(['nope', '..%2F..%2Fother', 'A-SKILL', '%00'])('%s is 404', async (name) => {
    const answer = await acme.get(`/v1/skills/${name}`);
    expect(answer.status).toBe(404);
    expect(await json(answer)).toMatchObject({ code: 'skill_not_found', status: 404 });
  });

  test('the two tools, with names limited on request', async () => {
    const plain = await json(await acme.get('/v1/tools'));
    const tools = plain['tools'] as { name: string; parameters: { properties: { name: object } } }[];
    expect(tools.map((tool) => tool.name)).toEqual(['load_skill', 'load_skill_resource']);
    expect(tools[0]?.parameters.properties.name).not.toHaveProperty('enum');
    const limited = await json(await acme.get('/v1/tools?enum=true'));
    const names = (limited['tools'] as { parameters: { properties: { name: { enum: string[] } } } }[]).map(
      (tool) => tool.parameters.properties.name.enum,
    );
    expect(names[0]).toEqual(['a-skill', 'b-skill', 'c-skill', 'd-skill', 'e-skill']);
  });
});

describe('several bundles', () => {
  test('[J5] own bundles in name order, first wins, the loser is reported with both files', async () => {
    const two = callerOf(service.app, await service.issue('two'));
    await two.put('/v1/bundles/b', zipOf({ 'report/SKILL.md': skillMd('report', 'From b.') }));
    await two.put('/v1/bundles/a', zipOf({ 'report/SKILL.md': skillMd('report', 'From a.') }));
    expect(await json(await two.get('/v1/skills/report'))).toMatchObject({
      bundle: 'a',
      description: 'From a.',
    });
    const { findings } = await json(await two.get('/v1/catalog/diagnostics'));
    expect(findings).toEqual([
      expect.objectContaining({
        code: 'shadowed_skill',
        severity: 'warning',
        file: 'bundle://two/b/report/SKILL.md',
      }),
    ]);
    expect(JSON.stringify(findings)).toContain('bundle://two/a/report/SKILL.md');
  });
});
