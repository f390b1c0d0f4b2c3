import type { IncomingMessage, RequestListener } from 'node:http';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { zipOf } from '../support/archive-bytes.ts';
import type { Caller } from '../support/call.ts';
import { callerOf, json } from '../support/call.ts';
import type { Listening } from '../support/listening.ts';
import { appListener, listening } from '../support/listening.ts';
import type { TestService } from '../support/service.ts';
import { startService } from '../support/service.ts';
import { skillMd } from '../support/skills.ts';
import { skillbucket } from '../support/terminal.ts';
import { temporaryFolders } from '../sources/folders.ts';

const folder = temporaryFolders();
const GOOD = { 'demo/SKILL.md': skillMd('demo'), 'demo/references/a.md': 'a' };

let service: TestService;
let server: Listening;
let seen: string[] = [];
/** What a test puts before the service: answers a request itself, or breaks it off. */
let interfere: (
  request: IncomingMessage,
  ...rest: Parameters<RequestListener> extends [unknown, ...infer R] ? R : never
) => boolean;
let key = '';
let acme: Caller;
let tenants = 0;

beforeAll(async () => {
  service = await startService({ events: false });
  const serve = appListener(service.app);
  server = await listening((request, response) => {
    seen.push(
      `${request.method ?? ''} ${(request.url ?? '').replace(/bucket\/.*/, 'bucket/…').replace(/[0-9a-f]{32}/, '{id}')}`,
    );
    if (!interfere(request, response)) serve(request, response);
  });
});
afterAll(async () => {
  await server.close();
  await service.close();
});
beforeEach(async () => {
  interfere = () => false;
  seen = [];
  key = await service.issue(`tenant-${(tenants += 1)}`);
  acme = callerOf(service.app, key);
});
afterEach(() => {
  interfere = () => false;
});

const publish = (source: string, ...more: string[]) =>
  skillbucket(['publish', source, '--bundle', 'team', '--url', server.url, '--json', ...more], {
    SKILLBUCKET_KEY: key,
  });
const BEGIN = 'POST /v1/bundles/team/uploads';
const PUT = 'PUT /bucket/…';
const COMPLETE = 'POST /v1/bundles/team/uploads/{id}/complete';

describe('[D5] publish --url', () => {
  test('begins, puts, completes; then sends nothing that is there', async () => {
    const source = await folder(GOOD);
    const first = await publish(source);
    expect(first.code).toBe(0);
    expect(JSON.parse(first.out)).toMatchObject({
      outcome: 'published',
      bundle: 'team',
      revision: 1,
      files: 2,
    });
    expect(seen).toEqual(['GET /v1/bundles/team', BEGIN, PUT, COMPLETE]);

    seen = [];
    const second = await publish(source);
    expect(JSON.parse(second.out)).toMatchObject({ outcome: 'unchanged', revision: 1 });
    expect(seen).toEqual(['GET /v1/bundles/team']);

    await writeFile(path.join(source, 'demo/references/a.md'), 'b');
    service.advance(10);
    expect(JSON.parse((await publish(source)).out)).toMatchObject({ outcome: 'published', revision: 2 });
  });

  test('what was put before it was cut off is not put again', async () => {
    const source = await folder(GOOD);
    interfere = (request, response) => {
      if (!(request.url ?? '').endsWith('/complete')) return false;
      const problem = { code: 'unauthenticated', detail: 'no' };
      response.writeHead(401, { 'content-type': 'application/problem+json' }).end(JSON.stringify(problem));
      return true;
    };
    expect((await publish(source)).code).toBe(1);
    interfere = () => false;
    seen = [];
    expect(JSON.parse((await publish(source)).out)).toMatchObject({ outcome: 'published', revision: 1 });
    expect(seen).toEqual(['GET /v1/bundles/team', BEGIN, COMPLETE]);
  });

  test('goes on over broken connections and a service that is away for a moment', async () => {
    const source = await folder(GOOD);
    const broken = new Set<string>();
    interfere = (request, response) => {
      const step = seen.at(-1) ?? '';
      if (broken.has(step)) return false;
      broken.add(step);
      if (step === PUT) request.destroy();
      else if (step === COMPLETE) response.writeHead(503).end();
      else return false;
      return true;
    };
    expect(JSON.parse((await publish(source)).out)).toMatchObject({ outcome: 'published', revision: 1 });
    expect(seen).toEqual(['GET /v1/bundles/team', BEGIN, PUT, BEGIN, PUT, COMPLETE, COMPLETE]);
  });

  test('the answer to complete was lost: it is told again, and published once', async () => {
    const source = await folder(GOOD);
    let lost = false;
    interfere = (request, response) => {
      if (lost || !(request.url ?? '').endsWith('/complete')) return false;
      lost = true;
      void acme.post(request.url ?? '', {}).then(() => response.destroy());
      return true;
    };
    expect(JSON.parse((await publish(source)).out)).toMatchObject({ outcome: 'published', revision: 1 });
    expect(await json(await acme.get('/v1/bundles/team'))).toMatchObject({ revision: 1, generation: 1 });
  });

  test('errors are found here, with file, line and fix, and nothing is sent', async () => {
    const source = await folder({ 'demo/SKILL.md': '---\nname: demo\n---\n' });
    const ran = await skillbucket(['publish', source, '--bundle', 'team', '--url', server.url, '--key', key]);
    expect(ran.code).toBe(1);
    expect(ran.err).toContain('demo/SKILL.md');
    expect(ran.err).toContain('missing_field');
    expect(ran.err).toContain('fix: ');
    expect(seen).toEqual([]);
  });

  test('findings of the service are told as its own are', async () => {
    const source = await folder(GOOD);
    interfere = (request, response) => {
      if (!(request.url ?? '').endsWith('/complete')) return false;
      const findings = [
        { severity: 'error', code: 'invalid_yaml', message: 'm', file: 'demo/SKILL.md', line: 2, fix: 'f' },
      ];
      response
        .writeHead(422, { 'content-type': 'application/problem+json' })
        .end(JSON.stringify({ code: 'invalid_yaml', detail: 'no', findings }));
      return true;
    };
    const ran = await publish(source);
    expect(ran.code).toBe(1);
    expect(ran.err).toContain('demo/SKILL.md:2 invalid_yaml');
  });

  test('what is left out stays here: history, noise, and in lenient mode secrets', async () => {
    const source = await folder({
      ...GOOD,
      'demo/.git/config': 'x',
      'demo/.env': 'SECRET=1',
      'README.md': 'not in a skill',
      'demo/.DS_Store': 'x',
    });
    expect((await publish(source)).code).toBe(1);
    const ran = await publish(source, '--lenient');
    const { findings, files } = JSON.parse(ran.out) as {
      findings: { code: string; file: string }[];
      files: number;
    };
    expect(files).toBe(2);
    expect(findings.map((one) => one.code)).toEqual(
      expect.arrayContaining(['file_left_out', 'secret_refused']),
    );
    for await (const stored of service.objects.list('')) {
      const object = await service.objects.get(stored);
      if (object !== undefined && object !== 'unmodified') {
        expect(Buffer.from(object.bytes).includes('SECRET=1')).toBe(false);
      }
    }
  });

  test.each([['one skill'], ['its SKILL.md'], ['a zip']])('takes %s', async (what) => {
    const source = await folder({ ...GOOD, 'demo/scripts/run.sh': '#!/bin/sh\n', 'all.zip': zipOf(GOOD) });
    const given = { 'one skill': 'demo', 'its SKILL.md': 'demo/SKILL.md', 'a zip': 'all.zip' }[what] ?? '';
    const ran = await publish(path.join(source, given));
    expect(JSON.parse(ran.out)).toMatchObject({ outcome: 'published', skills: 1 });
    seen = [];
    expect(JSON.parse((await publish(path.join(source, given))).out)).toMatchObject({ outcome: 'unchanged' });
    expect(seen).toEqual(['GET /v1/bundles/team']);
  });

  test('--dry-run sends nothing', async () => {
    const ran = await publish(await folder(GOOD), '--dry-run');
    expect(JSON.parse(ran.out)).toMatchObject({ outcome: 'validated' });
    expect(seen).toEqual(['GET /v1/bundles/team']);
  });

  test('a bundle that is too large says so before anything is sent, naming the largest files', async () => {
    const source = await folder({ ...GOOD, 'demo/assets/big.bin': Buffer.alloc(51 * 1024 * 1024) });
    const ran = await publish(source);
    expect(ran.code).toBe(1);
    expect(ran.err).toMatch(/51 MiB|demo\/assets\/big\.bin/);
    expect(seen).toEqual([]);
  });

  test.each(['by URL', 'here, dry'])(
    '[D5] a file that is written while it is packed is named, and nothing is published (%s)',
    async (way) => {
      const busy = 'demo/z.md';
      const source = await folder({
        ...GOOD,
        ...Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`demo/f/${index}.md`, 'x'])),
        [busy]: 'old',
      });
      const done = new AbortController();
      const writing = (async () => {
        for (let round = 0; !done.signal.aborted; round += 1)
          await writeFile(path.join(source, busy), String(round % 10).repeat(100_000));
      })();
      const data = await folder();
      const ran = await (
        way === 'here, dry'
          ? skillbucket(['publish', source, '--bundle', 'team', '--data-dir', data, '--dry-run', '--json'])
          : publish(source)
      ).finally(() => {
        done.abort();
      });
      await writing;
      expect(ran.code).toBe(1);
      expect(JSON.parse(ran.out)).toMatchObject({
        outcome: 'refused',
        code: 'skill_changed',
        findings: [{ file: busy, fix: expect.stringContaining('Try again') as string }],
      });
      expect(seen).toEqual([]);
    },
  );

  test('a write-only key can publish', async () => {
    key = await service.issue(`tenant-${tenants}`, ['bundles:write']);
    expect(JSON.parse((await publish(await folder(GOOD))).out)).toMatchObject({ outcome: 'published' });
  });

  test.each([
    ['a wrong key', { SKILLBUCKET_KEY: 'sb_nope' }, [], 1, 'unauthenticated'],
    ['no key', {}, [], 2, 'SKILLBUCKET_KEY is missing'],
    ['a tenant', { SKILLBUCKET_KEY: 'x' }, ['--tenant', 'acme'], 2, 'the key names the tenant'],
  ])('with %s', async (_, env, more, code, text) => {
    const ran = await skillbucket(
      ['publish', await folder(GOOD), '--bundle', 'team', '--url', server.url, ...more],
      env,
    );
    expect([ran.code, ran.err]).toEqual([code, expect.stringContaining(text)]);
  });

  test.each([
    ['ftp://example.org', 'not an http(s) URL'],
    ['example.org', 'not an http(s) URL'],
    ['http://127.0.0.1:1', 'cannot be reached'],
  ])('with the URL %s', async (url, text) => {
    const ran = await skillbucket([
      'publish',
      await folder(GOOD),
      '--bundle',
      'team',
      '--url',
      url,
      '--key',
      'x',
    ]);
    expect([ran.code, ran.err]).toEqual([2, expect.stringContaining(text)]);
  });

  test('a URL that is no Skillbucket is told from a refusal', async () => {
    interfere = (_, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<html>');
      return true;
    };
    const ran = await publish(await folder(GOOD));
    expect([ran.code, ran.err]).toEqual([2, expect.stringContaining('Is the URL right?')]);
  });

  test('the URL can come from what cdk deploy wrote', async () => {
    const source = await folder(GOOD);
    const outputs = path.join(await folder(), 'outputs.json');
    const stack = { Url: server.url, BucketName: 'b', TableName: 't', Region: 'eu-west-1', Stage: 'dev' };
    const run = (file: string) =>
      skillbucket(['publish', source, '--bundle', 'team', '--outputs', file, '--json'], {
        SKILLBUCKET_KEY: key,
      });
    await writeFile(outputs, JSON.stringify({ 'skillbucket-dev': stack, other: { A: 'b' } }));
    expect(JSON.parse((await run(outputs)).out)).toMatchObject({ outcome: 'published', url: server.url });
    await writeFile(outputs, JSON.stringify({ one: stack, two: stack }));
    expect((await run(outputs)).err).toContain('2 stacks');
    await writeFile(outputs, '{}');
    expect((await run(outputs)).err).toContain('no outputs');
    await writeFile(outputs, '{');
    expect((await run(outputs)).err).toContain('is not JSON');
    expect((await run(`${outputs}.missing`)).err).toContain('ENOENT');
  });

  test('the same folder gives the same archive, wherever and whenever it is packed', async () => {
    const [one, two] = [await folder(GOOD), await folder()];
    await mkdir(path.join(two, 'x'));
    await writeFile(path.join(two, 'x/SKILL.md'), GOOD['demo/SKILL.md']);
    await rename(path.join(two, 'x'), path.join(two, 'demo'));
    await mkdir(path.join(two, 'demo/references'));
    await writeFile(path.join(two, 'demo/references/a.md'), 'a');
    const { packTree } = await import('../../src/operations/pack-tree.ts');
    const { treeOf } = await import('../../src/cli/tree-of.ts');
    const { bundleId } = await import('../../src/core/ids.ts');
    const packs = await Promise.all(
      [one, two].map(async (from) =>
        packTree(await treeOf(from, 'strict'), { bundle: bundleId('team'), mode: 'strict' }),
      ),
    );
    expect(Buffer.compare(packs[0]?.archive ?? Buffer.alloc(0), packs[1]?.archive ?? Buffer.alloc(1))).toBe(
      0,
    );
  });
});
