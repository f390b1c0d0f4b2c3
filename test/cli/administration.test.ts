import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { LOCAL_TABLE, startLocalTable } from '../../src/local/local-table.ts';
import { temporaryFolders } from '../sources/folders.ts';
import { appListener, listening } from '../support/listening.ts';
import { zipOf } from '../support/archive-bytes.ts';
import { callerOf } from '../support/call.ts';
import { startService } from '../support/service.ts';
import { skillMd } from '../support/skills.ts';
import { skillbucket } from '../support/terminal.ts';

const folder = temporaryFolders();

/** A deployment, as an operator reaches it. */
interface Place {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

const PLACES: Readonly<Record<string, () => Promise<Place>>> = {
  async 'by URL and key'() {
    const service = await startService();
    const server = await listening(appListener(service.app));
    const key = await service.issue('operator');
    return {
      args: ['--url', server.url],
      env: { SKILLBUCKET_KEY: key },
      async close() {
        await server.close();
        await service.close();
      },
    };
  },
  async 'by table and AWS credentials'() {
    const local = await startLocalTable({ accessKeyId: 'test' });
    vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', local.endpoint);
    vi.stubEnv('AWS_REGION', 'us-east-1');
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'test');
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'test');
    return {
      args: [],
      env: { SKILLBUCKET_TABLE: LOCAL_TABLE },
      async close() {
        vi.unstubAllEnvs();
        await local.close();
      },
    };
  },
};

describe.each(Object.entries(PLACES))('[D7] administration %s', (_name, start) => {
  let place: Place;
  beforeAll(async () => {
    place = await start();
  });
  afterAll(() => place.close());

  const run = (...args: string[]) => skillbucket([...args, ...place.args], place.env);
  const json = async (...args: string[]): Promise<unknown> => {
    const ran = await run(...args, '--json');
    expect([ran.code, ran.err]).toEqual([0, '']);
    return JSON.parse(ran.out);
  };

  test('tenants are created, listed, suspended and resumed', async () => {
    expect(await json('tenants', 'create', 'acme', '--name', 'Acme')).toMatchObject({ status: 'active' });
    await json('tenants', 'create', 'globex');
    expect((await run('tenants', 'list')).out).toMatch(
      /^acme +active +\d{4}-\d\d-\d\d {2}Acme\nglobex +active/m,
    );
    expect(await json('tenants', 'suspend', 'acme')).toMatchObject({ id: 'acme', status: 'suspended' });
    expect(await json('tenants', 'show', 'acme')).toMatchObject({ status: 'suspended', grants: [] });
    expect(await json('tenants', 'resume', 'acme')).toMatchObject({ status: 'active' });
    expect(await run('tenants', 'suspend', 'nobody')).toMatchObject({
      code: 1,
      err: expect.stringContaining('no tenant "nobody"') as string,
    });
  });

  test('keys are listed without their secrets, and revoked', async () => {
    await run('tenants', 'create', 'with-keys');
    const { id, key } = (await json('keys', 'create', '--tenant', 'with-keys', '--label', 'agents')) as {
      id: string;
      key: string;
    };
    const listed = await run('keys', 'list', '--tenant', 'with-keys');
    expect(listed.out).toMatch(
      new RegExp(`^${id}  expires never +last used never +catalog:read,skills:load  agents\\n$`),
    );
    expect(listed.out).not.toContain(key);
    expect(await json('keys', 'revoke', id, '--tenant', 'with-keys')).toMatchObject({
      id,
      revoked_at: expect.any(String) as string,
    });
    expect((await run('keys', 'list', '--tenant', 'with-keys')).out).toContain('revoked');
    expect(await run('keys', 'revoke', id, '--tenant', 'acme')).toMatchObject({
      code: 1,
      err: expect.stringContaining('no such key') as string,
    });
  });

  test('a policy is set from a file and shown', async () => {
    await run('tenants', 'create', 'strict-one');
    const file = path.join(await folder(), 'policy.json');
    await writeFile(file, JSON.stringify({ max_tokens: 500, validation: 'strict' }));
    expect(await json('tenants', 'policy', 'strict-one', '--set', file)).toMatchObject({ version: 1 });
    expect(await json('tenants', 'policy', 'strict-one')).toMatchObject({
      max_tokens: 500,
      validation: 'strict',
      updated_by: expect.any(String) as string,
    });
    await writeFile(file, '{"max_tokens": "many"}');
    expect(await run('tenants', 'policy', 'strict-one', '--set', file)).toMatchObject({
      code: 1,
      err: expect.stringContaining('max_tokens') as string,
    });
    await writeFile(file, '{');
    expect(await run('tenants', 'policy', 'strict-one', '--set', file)).toMatchObject({
      code: 2,
      err: expect.stringContaining('is not JSON') as string,
    });
  });

  test('limits are set from a file, shown, and taken back', async () => {
    await run('tenants', 'create', 'limited');
    expect(await json('tenants', 'limits', 'limited')).toEqual({ limits: {} });
    const file = path.join(await folder(), 'limits.json');
    await writeFile(file, JSON.stringify({ loads: { per_second: 2 } }));
    const limits = { loads: { per_second: 2, burst: 4 } };
    expect(await json('tenants', 'limits', 'limited', '--set', file)).toMatchObject({ limits });
    expect(await json('tenants', 'limits', 'limited')).toMatchObject({
      limits,
      decided_by: expect.any(String) as string,
    });
    await writeFile(file, '{"loads": {"per_second": "many"}}');
    expect(await run('tenants', 'limits', 'limited', '--set', file)).toMatchObject({
      code: 1,
      err: expect.stringContaining('loads.per_second') as string,
    });
    await writeFile(file, '{}');
    expect(await json('tenants', 'limits', 'limited', '--set', file)).toMatchObject({ limits: {} });
  });
});

test('[D7] a shared bundle is granted and withdrawn by the command', async () => {
  const service = await startService();
  const server = await listening(appListener(service.app));
  try {
    const env = { SKILLBUCKET_URL: server.url, SKILLBUCKET_KEY: await service.issue('operator') };
    await service.issue('acme');
    const unknown = await skillbucket(['tenants', 'grant', 'acme', 'style'], env);
    expect([unknown.code, unknown.err]).toEqual([1, expect.stringContaining('no shared bundle "style"')]);
    const library = callerOf(service.app, await service.issue('shared'));
    await library.put('/v1/bundles/style', zipOf({ 'tone/SKILL.md': skillMd('tone', 'Plain words.') }));
    expect(await skillbucket(['tenants', 'grant', 'acme', 'style'], env)).toMatchObject({ code: 0 });
    const grants = async () => {
      const { out } = await skillbucket(['tenants', 'show', 'acme'], env);
      return (JSON.parse(out) as { grants: { bundle: string }[] }).grants.map(({ bundle }) => bundle);
    };
    expect(await grants()).toEqual(['style']);
    expect(await skillbucket(['tenants', 'withdraw', 'acme', 'style'], env)).toMatchObject({ code: 0 });
    expect(await grants()).toEqual([]);
  } finally {
    await server.close();
    await service.close();
  }
});
