import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { sha256 } from '../../src/core/digests.ts';
import { hexOf, tenantId } from '../../src/core/ids.ts';
import type { SessionId, SkillName } from '../../src/core/ids.ts';
import { ARCHIVE_LIMITS, MAX_INLINE_FILES, MAX_INLINE_LISTING_BYTES } from '../../src/core/limits.ts';
import { tenantPrefix } from '../../src/core/manifest/object-keys.ts';
import { activationKey } from '../../src/core/table-keys.ts';
import { zipOf } from '../support/archive-bytes.ts';
import { json } from '../support/call.ts';
import type { EmulatedAws } from '../support/emulated-aws.ts';
import { emulatorEndpoint, startOnEmulator } from '../support/emulated-aws.ts';
import { skillMd } from '../support/skills.ts';

const endpoint = emulatorEndpoint(process.env['SKILLBUCKET_TEST_S3_ENDPOINT'], 'the API on LocalStack');

describe.skipIf(endpoint === '')('[D6] the API at AWS_ENDPOINT_URL', () => {
  let aws: EmulatedAws;

  beforeAll(async () => {
    aws = await startOnEmulator();
  });
  afterAll(() => {
    vi.unstubAllEnvs();
  });

  async function keysOf(prefix: string): Promise<string[]> {
    const keys: string[] = [];
    for await (const key of aws.objects.list(prefix)) keys.push(key);
    return keys;
  }

  test('[D6] publish, catalog, load, resource, clear; another tenant sees none of it', async () => {
    const acme = await aws.callerOf('acme');
    const globex = await aws.callerOf('globex');
    expect((await acme.get('/readyz')).status).toBe(200);
    const skills = Array.from({ length: 30 }, (_, index) => `demo-${index}`);
    const archive = zipOf(
      Object.fromEntries(
        skills.flatMap((name) => [
          [`${name}/SKILL.md`, skillMd(name)],
          [`${name}/references/a b+c & 漢字.md`, `${name}: 漢字`],
        ]),
      ),
    );
    expect((await acme.put('/v1/bundles/main', archive)).status).toBe(201);
    const catalog = await json(await acme.get('/v1/catalog?q=demo'));
    expect((catalog['skills'] as { name: string }[]).map((skill) => skill.name).sort()).toEqual(
      [...skills].sort(),
    );
    expect(await json(await globex.get('/v1/catalog?q=demo'))).toMatchObject({ skills: [] });

    const context = { session_id: 'one' };
    for (const name of skills) {
      expect((await acme.post('/v1/tools/load_skill', { name, context })).status).toBe(200);
    }
    const read = { name: 'demo-7', relative_path: 'references/a b+c & 漢字.md', context };
    expect(await json(await acme.post('/v1/tools/load_skill_resource', read))).toMatchObject({
      content: 'demo-7: 漢字',
    });
    expect((await globex.post('/v1/tools/load_skill_resource', read)).status).not.toBe(200);
    const active = async () => (await json(await acme.get('/v1/sessions/one/activations')))['activations'];
    expect(await active()).toHaveLength(skills.length);
    expect((await globex.delete('/v1/sessions/one')).status).toBe(204);
    expect(await active()).toHaveLength(skills.length);
    expect((await acme.delete('/v1/sessions/one')).status).toBe(204);
    expect(await active()).toHaveLength(0);
    expect((await acme.post('/v1/tools/load_skill_resource', read)).status).not.toBe(200);
  });

  test('[D6] ten publishers of one bundle at once: each gets a revision of its own, and all are kept', async () => {
    const caller = await aws.callerOf('racing');
    const outcomes = await Promise.all(
      Array.from({ length: 10 }, async (_, index) => {
        const files = { 'demo/SKILL.md': skillMd('demo'), 'demo/a.md': `publisher ${index}` };
        const answer = await caller.put('/v1/bundles/main', zipOf(files));
        expect(answer.status).toBe(201);
        return (await json(answer)) as { revision: number; generation: number; digest: string };
      }),
    );
    expect(new Set(outcomes.map((one) => one.revision)).size).toBe(10);
    expect(outcomes.map((one) => one.generation).sort((a, b) => a - b)).toEqual([
      1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
    ]);
    const { revisions } = (await json(await caller.get('/v1/bundles/main/revisions'))) as {
      revisions: { revision: number; current: boolean }[];
    };
    expect(revisions.map((one) => one.revision).sort((a, b) => a - b)).toEqual(
      outcomes.map((one) => one.revision).sort((a, b) => a - b),
    );
    const last = outcomes.find((one) => one.generation === 10);
    expect(revisions.find((one) => one.current)?.revision).toBe(last?.revision);
    for (const { revision, digest } of outcomes) {
      expect(await json(await caller.get(`/v1/bundles/main/revisions/${revision}`))).toMatchObject({
        digest,
      });
    }
  });

  test('[D6] ten new bundles at once: the index knows them all', async () => {
    const caller = await aws.callerOf('founding');
    const names = Array.from({ length: 10 }, (_, index) => `bundle-${index}`);
    const statuses = await Promise.all(
      names.map(async (name) => {
        const archive = zipOf({ 'demo/SKILL.md': skillMd('demo'), 'demo/a.md': name });
        return (await caller.put(`/v1/bundles/${name}`, archive)).status;
      }),
    );
    expect(statuses).toEqual(names.map(() => 201));
    const { bundles } = (await json(await caller.get('/v1/bundles'))) as { bundles: { bundle: string }[] };
    expect(bundles.map((one) => one.bundle).sort()).toEqual(names);
  });

  test('[D6] a stale If-Match and a taken If-None-Match are 412; of five with the same state one wins', async () => {
    const caller = await aws.callerOf('conditional');
    const put = (text: string, headers: Record<string, string>) =>
      caller.put('/v1/bundles/main', zipOf({ 'demo/SKILL.md': skillMd('demo'), 'demo/a.md': text }), headers);
    const etag = async () => (await caller.get('/v1/bundles/main')).headers.get('etag') ?? '';
    expect((await put('first', { 'if-none-match': '*' })).status).toBe(201);
    const first = await etag();
    expect((await put('taken', { 'if-none-match': '*' })).status).toBe(412);
    expect((await put('second', { 'if-match': first })).status).toBe(201);
    const stale = await put('third', { 'if-match': first });
    expect([stale.status, (await json(stale))['code']]).toEqual([412, 'revision_conflict']);
    const second = await etag();
    const together = await Promise.all(
      ['a', 'b', 'c', 'd', 'e'].map(async (text) => (await put(text, { 'if-match': second })).status),
    );
    expect(together.sort()).toEqual([201, 412, 412, 412, 412]);
    expect(await json(await caller.get('/v1/bundles/main'))).toMatchObject({ generation: 3 });
  });

  test('[D6] a bundle of more than 1,000 files: listed to the last page, loaded up to the policy', async () => {
    const tenant = 'large';
    const caller = await aws.callerOf(tenant);
    const names = Array.from(
      { length: 1_100 },
      (_, index) => `references/${String(index).padStart(4, '0')}.md`,
    );
    expect(names.length).toBeLessThan(ARCHIVE_LIMITS.maxEntries);
    const files = Object.fromEntries([
      ['demo/SKILL.md', skillMd('demo')],
      ...names.map((name) => [`demo/${name}`, `text of ${name}`]),
    ]) as Record<string, string>;
    const published = await caller.put('/v1/bundles/main', zipOf(files));
    expect([published.status, await json(published)]).toMatchObject([
      201,
      { files: 1_101, uploaded: { files: 1_101 } },
    ]);
    // S3 answers 1,000 keys a page.
    const prefix = `${tenantPrefix(tenantId(tenant))}files/`;
    const expected = Object.values(files).map((text) => `${prefix}${hexOf(sha256(Buffer.from(text)))}`);
    expect(await keysOf(prefix)).toEqual(expected.sort());

    const context = { session_id: 'one' };
    const loaded = await json(await caller.post('/v1/tools/load_skill', { name: 'demo', context }));
    expect(loaded['resources']).toMatchObject({
      complete: false,
      truncated: true,
      truncation_reasons: ['max_resources'],
    });
    expect((loaded['resources'] as { references: unknown[] }).references).toHaveLength(256);
    const read = (relative_path: string) =>
      caller.post('/v1/tools/load_skill_resource', { name: 'demo', relative_path, context });
    expect(await json(await read('references/0255.md'))).toMatchObject({
      content: 'text of references/0255.md',
    });
    expect(await json(await read('references/0256.md'))).toMatchObject({ code: 'resource_not_listed' });
  });

  test('[D6] a listing too large for an item stays in the bucket, and is kept to all the same', async () => {
    const tenant = 'wide';
    const caller = await aws.callerOf(tenant);
    const names = Array.from(
      { length: MAX_INLINE_FILES - 1 },
      (_, index) => `references/${'d'.repeat(225)}/${'f'.repeat(225)}-${index}.md`,
    );
    const files = Object.fromEntries(names.map((name) => [`demo/${name}`, name]));
    const archive = zipOf({ 'demo/SKILL.md': skillMd('demo'), ...files });
    expect((await caller.put('/v1/bundles/main', archive)).status).toBe(201);
    const context = { session_id: 'one' };
    const loaded = await json(await caller.post('/v1/tools/load_skill', { name: 'demo', context }));
    const { references, complete } = loaded['resources'] as { references: unknown[]; complete: boolean };
    expect([references.length, complete]).toEqual([names.length, true]);
    expect(JSON.stringify(references).length).toBeGreaterThan(MAX_INLINE_LISTING_BYTES);
    const item = await aws.table.get(
      activationKey(tenantId(tenant), 'one' as SessionId, 'demo' as SkillName),
    );
    expect(item).toBeDefined();
    expect(JSON.stringify(item).length).toBeLessThan(MAX_INLINE_LISTING_BYTES);
    const read = (relative_path: string) =>
      caller.post('/v1/tools/load_skill_resource', { name: 'demo', relative_path, context });
    expect(await json(await read(names.at(-1) ?? ''))).toMatchObject({ content: names.at(-1) });
    expect(await json(await read('references/other.md'))).toMatchObject({ code: 'resource_not_listed' });
  });
});
