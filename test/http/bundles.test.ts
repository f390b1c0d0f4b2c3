import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { tarGzOf, zipOf } from '../support/archive-bytes.ts';
import type { Caller } from '../support/call.ts';
import { callerOf, json } from '../support/call.ts';
import type { TestService } from '../support/service.ts';
import { startService } from '../support/service.ts';
import { skillMd } from '../support/skills.ts';

let service: TestService;
let tenants = 0;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

/** A tenant that nobody else uses. */
async function tenant(): Promise<Caller> {
  return callerOf(service.app, await service.issue(`tenant-${(tenants += 1)}`));
}

/** Everything that the store holds, as key → etag. */
async function everything(): Promise<Map<string, string>> {
  const all = new Map<string, string>();
  for await (const key of service.objects.list('')) {
    const found = await service.objects.get(key);
    if (found !== undefined && found !== 'unmodified') all.set(key, found.etag);
  }
  return all;
}

const one = (name = 'demo', description = 'A demo.') => ({
  [`${name}/SKILL.md`]: skillMd(name, description),
});

describe('PUT /v1/bundles/{b}', () => {
  test.each([
    ['zip', zipOf],
    ['tar.gz', tarGzOf],
  ])('publishes a %s: 201, then 200 unchanged, which just notes the time', async (_, pack) => {
    const acme = await tenant();
    const first = await acme.put('/v1/bundles/main', pack(one()));
    expect(first.status).toBe(201);
    expect(await json(first)).toMatchObject({
      outcome: 'published',
      revision: 1,
      generation: 1,
      skills: 1,
      findings: [],
    });
    const before = await acme.get('/v1/bundles/main');
    service.counts.reset();
    const again = await acme.put('/v1/bundles/main', pack(one()));
    expect(again.status).toBe(200);
    expect(await json(again)).toMatchObject({
      outcome: 'unchanged',
      revision: 1,
      uploaded: { files: 0, bytes: 0 },
    });
    // The order of uploads needs it; readers see the same revision and generation.
    expect(service.counts.objects.put).toBe(1);
    service.advance(6);
    const after = await acme.get('/v1/bundles/main');
    expect(after.headers.get('etag')).toBe(before.headers.get('etag'));
  });

  test('a revision that was refused at the last moment never was', async () => {
    const acme = await tenant();
    await acme.put('/v1/bundles/main', zipOf(one()));
    const etag = (await acme.get('/v1/bundles/main')).headers.get('etag') ?? '';
    const racers = await Promise.all(
      ['a', 'b', 'c', 'd'].map((text) =>
        acme.put('/v1/bundles/main', zipOf({ ...one(), 'demo/a.md': text }), { 'if-match': etag }),
      ),
    );
    expect(racers.map(({ status }) => status).sort()).toEqual([201, 412, 412, 412]);
    const last = await acme.put('/v1/bundles/main', zipOf({ ...one(), 'demo/a.md': 'last' }));
    const { revision } = (await json(last)) as { revision: number };
    service.advance(6);
    const { revisions } = (await json(await acme.get('/v1/bundles/main/revisions'))) as {
      revisions: { revision: number }[];
    };
    const published = revisions.map((one) => one.revision);
    expect(published).toHaveLength(3);
    for (let number = 1; number <= revision; number += 1) {
      const shown = published.includes(number) ? 200 : 404;
      expect((await acme.get(`/v1/bundles/main/revisions/${number}`)).status).toBe(shown);
      expect((await acme.post('/v1/bundles/main/rollback', { revision: number })).status).toBe(shown);
    }
  });

  test('uploads only what is new', async () => {
    const acme = await tenant();
    await acme.put('/v1/bundles/main', zipOf({ ...one(), 'demo/a.md': 'a', 'demo/b.md': 'b' }));
    const second = await json(
      await acme.put('/v1/bundles/main', zipOf({ ...one(), 'demo/a.md': 'a', 'demo/b.md': 'B' })),
    );
    expect(second).toMatchObject({ revision: 2, uploaded: { files: 1, bytes: 1 } });
  });

  test('[J23] [J27] a bundle with an error is refused with findings and changes nothing', async () => {
    const acme = await tenant();
    await acme.put('/v1/bundles/main', zipOf(one()));
    const before = await everything();
    const bad = zipOf({
      ...one('good'),
      'a/SKILL.md': '# Title\n',
      'b/SKILL.md': '---\nname: b\n---\n',
      'c/SKILL.md': skillMd('other'),
      'd/SKILL.md': '---\nname: d\ndescription: Use when: x\n---\n',
      'e/SKILL.md': '---\nname: E_\ndescription: x\n---\n',
    });
    const refused = await acme.put('/v1/bundles/main', bad);
    expect(refused.status).toBe(422);
    const body = await json(refused);
    const findings = body['findings'] as {
      code: string;
      file: string;
      line: number;
      fix: string;
      severity: string;
    }[];
    const errors = findings.filter((finding) => finding.severity === 'error');
    expect(errors.map((finding) => [finding.file, finding.code])).toEqual(
      expect.arrayContaining([
        ['a/SKILL.md', 'no_frontmatter'],
        ['b/SKILL.md', 'missing_field'],
        ['c/SKILL.md', 'directory_name_mismatch'],
        ['d/SKILL.md', 'invalid_yaml'],
        ['e/SKILL.md', 'invalid_name'],
      ]),
    );
    for (const finding of errors) {
      expect(finding.fix).not.toBe('');
      expect(finding.line).toBeGreaterThan(0);
    }
    expect(await everything()).toEqual(before);
  });

  test('lenient repairs, records the mode, and uses it again when the skill is loaded', async () => {
    const acme = await tenant();
    const archive = zipOf({
      'demo/SKILL.md': '---\nname: demo\ndescription: Use when: x\nmodel: big\n---\nBody\n',
    });
    expect((await acme.put('/v1/bundles/main', archive)).status).toBe(422);
    const published = await json(await acme.put('/v1/bundles/main?mode=lenient', archive));
    expect(published).toMatchObject({ mode: 'lenient', outcome: 'published' });
    const codes = (published['findings'] as { code: string }[]).map((finding) => finding.code);
    expect(codes).toEqual(expect.arrayContaining(['repaired_yaml', 'unknown_field']));
    expect(await json(await acme.get('/v1/bundles/main'))).toMatchObject({ mode: 'lenient' });
    const loaded = await json(
      await acme.post('/v1/tools/load_skill', { name: 'demo', context: { session_id: 's' } }),
    );
    expect(loaded).toMatchObject({ description: 'Use when: x', instructions: 'Body\n' });
    expect(await json(await acme.get('/v1/skills/demo'))).toMatchObject({
      findings: expect.arrayContaining([
        expect.objectContaining({ code: 'repaired_yaml', line: 3 }),
      ]) as unknown,
    });
  });

  test('a dry run reports and stores nothing', async () => {
    const acme = await tenant();
    const before = await everything();
    const answer = await acme.put('/v1/bundles/main?dry_run=true', zipOf(one()));
    expect(answer.status).toBe(200);
    expect(await json(answer)).toMatchObject({ outcome: 'validated', skills: 1 });
    expect(await everything()).toEqual(before);
    expect((await acme.get('/v1/bundles/main')).status).toBe(404);
  });

  test('If-Match replaces only the state that was seen; If-None-Match: * only a new bundle', async () => {
    const acme = await tenant();
    expect((await acme.put('/v1/bundles/main', zipOf(one()), { 'if-match': '"x"' })).status).toBe(412);
    expect((await acme.put('/v1/bundles/main', zipOf(one()), { 'if-none-match': '*' })).status).toBe(201);
    const etag = (await acme.get('/v1/bundles/main')).headers.get('etag') ?? '';
    expect((await acme.put('/v1/bundles/main', zipOf(one('b')), { 'if-match': etag })).status).toBe(201);
    const late = await acme.put('/v1/bundles/main', zipOf(one('c')), { 'if-match': etag });
    expect(late.status).toBe(412);
    expect(await json(late)).toMatchObject({ code: 'revision_conflict' });
    expect((await acme.put('/v1/bundles/main', zipOf(one('c')), { 'if-none-match': '*' })).status).toBe(412);
    expect(await json(await acme.get('/v1/catalog'))).toMatchObject({ total: 1, skills: [{ name: 'b' }] });
  });

  test('[D5] archives that are not safe or not whole change nothing', async () => {
    const acme = await tenant();
    const before = await everything();
    const cases: [Uint8Array, string, number][] = [
      [new Uint8Array(), 'archive_invalid', 422],
      [Buffer.from('hello'), 'archive_invalid', 422],
      [zipOf({ '../evil/SKILL.md': skillMd('evil') }), 'archive_unsafe', 422],
      [zipOf(one()).subarray(0, 60), 'archive_invalid', 422],
      [zipOf({ 'README.md': 'nothing here' }), 'no_skills_found', 422],
      [zipOf({ 'a/SKILL.md': skillMd('a'), 'b/a/SKILL.md': skillMd('a') }), 'duplicate_skill', 422],
      [zipOf({ ...one(), 'demo/.env': 'KEY=1' }), 'secret_refused', 422],
      [zipOf({ ...one(), 'demo/zeros.bin': new Uint8Array(30_000_000) }), 'archive_too_large', 413],
    ];
    for (const [bytes, code, status] of cases) {
      const answer = await acme.put('/v1/bundles/main', bytes);
      expect([code, answer.status]).toEqual([code, status]);
      expect(await json(answer)).toMatchObject({ code });
    }
    expect(await everything()).toEqual(before);
  });

  test('noise and history are left out and named; harmless dotfiles stay', async () => {
    const acme = await tenant();
    const published = await json(
      await acme.put(
        '/v1/bundles/main',
        zipOf({
          ...one(),
          'demo/.DS_Store': 'x',
          '__MACOSX/demo/._SKILL.md': 'x',
          'demo/.git/config': 'x',
          'demo/.env.example': 'KEY=',
          'README.md': 'about',
        }),
      ),
    );
    const left = (published['findings'] as { file: string; code: string }[])
      .map((finding) => finding.file)
      .sort();
    expect(left).toEqual(['README.md', '__MACOSX/demo/._SKILL.md', 'demo/.DS_Store', 'demo/.git/config']);
    expect(published).toMatchObject({ files: 2 });
  });

  test('a skill at the root of an archive takes everything beside it', async () => {
    const acme = await tenant();
    await acme.put(
      '/v1/bundles/main',
      zipOf({ 'SKILL.md': skillMd('root'), 'scripts/run.sh': 'x', 'x/SKILL.md': skillMd('x') }),
    );
    const loaded = await json(
      await acme.post('/v1/tools/load_skill', { name: 'root', context: { session_id: 's' } }),
    );
    expect(loaded).toMatchObject({
      root_dir: expect.stringMatching(/^bundle:\/\/tenant-\d+\/main$/) as unknown,
    });
    const listing = loaded['resources'] as { resources: { relative_path: string }[] };
    expect(listing.resources.map((entry) => entry.relative_path)).toEqual(['scripts/run.sh', 'x/SKILL.md']);
    const { findings } = await json(await acme.get('/v1/bundles/main'));
    expect(findings).toEqual([expect.objectContaining({ code: 'nested_skill', file: 'x/SKILL.md' })]);
  });

  test.each(['Main', 'a_b', '-a', 'x'.repeat(65), '..%2Fother'])(
    'refuses the bundle name %s',
    async (name) => {
      const answer = await (await tenant()).put(`/v1/bundles/${name}`, zipOf(one()));
      expect(answer.status).toBe(422);
      expect(await json(answer)).toMatchObject({ code: 'invalid_request' });
    },
  );

  test('every byte of every file comes back', async () => {
    const allowing = await startService({ resources: { binary: 'allow' } });
    try {
      const caller = callerOf(allowing.app, await allowing.issue('acme'));
      const all = Uint8Array.from({ length: 256 }, (_, index) => index);
      const files: Record<string, Uint8Array> = {
        'all.bin': all,
        'crlf.txt': Buffer.from('a\r\nb\r\n'),
        'bom.txt': Buffer.from('\ufeffx'),
        '100%.md': Buffer.from('%'),
        'a@b/c.md': Buffer.from('c'),
        'ü/漢.md': Buffer.from('漢'),
        empty: new Uint8Array(),
      };
      const inside = Object.fromEntries(
        Object.entries(files).map(([path, bytes]) => [`demo/${path}`, bytes]),
      );
      await caller.put('/v1/bundles/main', zipOf({ ...one(), ...inside }));
      await caller.post('/v1/tools/load_skill', { name: 'demo', context: { session_id: 's' } });
      for (const [relative_path, bytes] of Object.entries(files)) {
        const answer = await caller.post(
          '/v1/tools/load_skill_resource',
          { name: 'demo', relative_path, context: { session_id: 's' } },
          { accept: 'application/octet-stream' },
        );
        expect([relative_path, Buffer.from(await answer.arrayBuffer()).equals(bytes)]).toEqual([
          relative_path,
          true,
        ]);
      }
    } finally {
      await allowing.close();
    }
  });
});

describe('revisions', () => {
  test('are kept, listed, read and rolled back to; generation rises, numbers are never used twice', async () => {
    const acme = await tenant();
    for (const description of ['One.', 'Two.', 'Three.']) {
      await acme.put('/v1/bundles/main', zipOf(one('demo', description)));
    }
    const listed = await json(await acme.get('/v1/bundles/main/revisions'));
    expect(listed).toMatchObject({ current: 3 });
    expect(
      (listed['revisions'] as { revision: number; current: boolean }[]).map((note) => [
        note.revision,
        note.current,
      ]),
    ).toEqual([
      [3, true],
      [2, false],
      [1, false],
    ]);
    const first = await json(await acme.get('/v1/bundles/main/revisions/1'));
    expect(first).toMatchObject({ revision: 1, skills: [{ description: 'One.' }] });

    const back = await acme.post('/v1/bundles/main/rollback', { revision: 1 });
    expect(back.status).toBe(200);
    expect(await json(back)).toMatchObject({ revision: 1, generation: 4 });
    expect(await json(await acme.get('/v1/skills/demo'))).toMatchObject({ description: 'One.' });
    expect(await json(await acme.put('/v1/bundles/main', zipOf(one('demo', 'Four.'))))).toMatchObject({
      revision: 4,
      generation: 5,
    });
    expect(await json(await acme.get('/v1/bundles/main/revisions/1'))).toEqual(first);
  });

  test.each([0, 7, 1.5, -1, '1', null])('rolling back to %j is refused', async (revision) => {
    const acme = await tenant();
    await acme.put('/v1/bundles/main', zipOf(one()));
    const answer = await acme.post('/v1/bundles/main/rollback', { revision });
    expect([404, 422]).toContain(answer.status);
    expect(await json(await acme.get('/v1/bundles/main'))).toMatchObject({ revision: 1, generation: 1 });
  });

  test('of a bundle that is not there are 404', async () => {
    const acme = await tenant();
    for (const path of ['/v1/bundles/none', '/v1/bundles/none/revisions', '/v1/bundles/none/revisions/1']) {
      expect(await json(await acme.get(path))).toMatchObject({ code: 'not_found', status: 404 });
    }
    expect((await acme.post('/v1/bundles/none/rollback', { revision: 1 })).status).toBe(404);
  });
});

describe('POST /v1/validate', () => {
  test('answers findings and stores nothing', async () => {
    const acme = await tenant();
    const before = await everything();
    const good = await acme.request('/v1/validate', { method: 'POST', body: new Uint8Array(zipOf(one())) });
    expect(await json(good)).toMatchObject({ valid: true, skills: [{ name: 'demo' }], findings: [] });
    const bad = await acme.request('/v1/validate', {
      method: 'POST',
      body: new Uint8Array(zipOf({ 'a/SKILL.md': '# x' })),
    });
    expect(bad.status).toBe(200);
    expect(await json(bad)).toMatchObject({
      valid: false,
      findings: [{ code: 'no_frontmatter', file: 'a/SKILL.md' }],
    });
    expect(await everything()).toEqual(before);
  });
});
