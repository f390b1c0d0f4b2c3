import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { LocalTable } from '../../src/local/local-table.ts';
import { LOCAL_TABLE, startLocalTable } from '../../src/local/local-table.ts';
import { apiKeyAuthenticator } from '../../src/tenancy/authenticate.ts';
import { dynamoCredentialStore } from '../../src/tenancy/credential-store.ts';
import { skillbucket } from '../support/terminal.ts';
import { temporaryFolders } from '../sources/folders.ts';

const folder = temporaryFolders();
let local: LocalTable;

beforeAll(async () => {
  local = await startLocalTable({ accessKeyId: 'test' });
});
afterAll(() => local.close());
beforeEach(() => {
  vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', local.endpoint);
  vi.stubEnv('AWS_REGION', 'us-east-1');
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'test');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'test');
});
afterEach(() => {
  vi.unstubAllEnvs();
});

const run = (...args: string[]) => skillbucket(args, { SKILLBUCKET_TABLE: LOCAL_TABLE });
const authenticate = async (key: string, nowMs = Date.now()) => {
  const clock = { freshnessSeconds: 0, nowMs: () => nowMs };
  const { principal } = await apiKeyAuthenticator(dynamoCredentialStore(local.table), clock)(`Bearer ${key}`);
  return principal;
};

describe('tenants create, keys create', () => {
  test('a tenant, then a key of it that works, with its scopes and its expiry', async () => {
    expect(await run('tenants', 'create', 'acme', '--name', 'Acme')).toMatchObject({ code: 0 });
    const issued = await run('keys', 'create', '--tenant', 'acme');
    expect(issued.code).toBe(0);
    expect(issued.out).toMatch(/^sb_[a-z0-9]{12}_[A-Za-z0-9-]{43}\n$/);
    expect(await authenticate(issued.out.trim())).toMatchObject({
      tenant: 'acme',
      scopes: ['catalog:read', 'skills:load'],
    });
    const second = await run(
      'keys',
      'create',
      '--tenant',
      'acme',
      '--scopes',
      'bundles:write, catalog:read',
      '--days',
      '1',
      '--json',
    );
    const { key } = JSON.parse(second.out) as { key: string };
    expect(await authenticate(key)).toMatchObject({ scopes: ['catalog:read', 'bundles:write'] });
    await expect(authenticate(key, Date.now() + 2 * 24 * 60 * 60 * 1000)).rejects.toMatchObject({
      code: 'unauthenticated',
    });
  });

  test('the table can come from what cdk deploy wrote', async () => {
    const outputs = path.join(await folder(), 'outputs.json');
    await writeFile(
      outputs,
      JSON.stringify({
        s: { Url: 'https://x.test', BucketName: 'b', TableName: LOCAL_TABLE, Region: 'eu-west-1' },
      }),
    );
    expect(await skillbucket(['tenants', 'create', 'by-outputs', '--outputs', outputs])).toMatchObject({
      code: 0,
    });
  });

  test.each([
    [['tenants', 'create', 'twice'], 1, 'already'],
    [['tenants', 'create', 'Not Valid'], 1, 'Tenant id'],
    [['tenants', 'create', 'builtin'], 1, 'reserved'],
    [['tenants', 'create'], 2, 'ID is missing'],
    [['tenants', 'rename', 'x'], 2, 'create'],
    [['keys', 'create', '--tenant', 'nobody'], 1, 'no tenant "nobody"'],
    [['keys', 'create'], 2, '--tenant ID is missing'],
    [['keys', 'create', '--tenant', 'twice', '--scopes', 'root'], 2, 'no scope "root"'],
    [['keys', 'create', '--tenant', 'twice', '--days', '0'], 2, '--days'],
    [['keys'], 2, 'create'],
  ])('%j', async (args, code, text) => {
    await run('tenants', 'create', 'twice');
    const ran = await run(...args);
    expect([ran.code, ran.err]).toEqual([code, expect.stringContaining(text)]);
  });

  test('without a table it says how to name one', async () => {
    const ran = await skillbucket(['tenants', 'create', 'x']);
    expect([ran.code, ran.err]).toEqual([2, expect.stringContaining('SKILLBUCKET_TABLE')]);
  });
});
