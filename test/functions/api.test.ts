import { randomUUID } from 'node:crypto';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { LOCAL_TABLE, startLocalTable } from '../../src/local/local-table.ts';
import type { LocalTable } from '../../src/local/local-table.ts';
import { issueKey } from '../../src/tenancy/api-keys.ts';
import { dynamoCredentialStore } from '../../src/tenancy/credential-store.ts';
import { newTenantId } from '../../src/tenancy/reserved-tenants.ts';
import { zipOf } from '../support/archive-bytes.ts';
import type { Invoke } from '../support/lambda-event.ts';
import { invoker } from '../support/lambda-event.ts';
import { skillMd } from '../support/skills.ts';

const endpoint = process.env['SKILLBUCKET_TEST_S3_ENDPOINT'] ?? '';
if (endpoint === '') {
  process.stderr.write(
    '\n*** NOT RUN: the function on S3. SKILLBUCKET_TEST_S3_ENDPOINT is not set; `.ci/run` runs it. ***\n\n',
  );
}

describe.skipIf(endpoint === '')(
  '[D2] functions/api on S3 and DynamoDB, configured by the environment alone',
  () => {
    let local: LocalTable;
    let invoke: Invoke;

    beforeAll(async () => {
      local = await startLocalTable({ accessKeyId: 'test' });
      const bucket = `skillbucket-test-${randomUUID()}`;
      for (const [name, value] of Object.entries({
        AWS_ENDPOINT_URL_S3: endpoint,
        AWS_ENDPOINT_URL_DYNAMODB: local.endpoint,
        AWS_REGION: 'us-east-1',
        AWS_ACCESS_KEY_ID: 'test',
        AWS_SECRET_ACCESS_KEY: 'test',
        SKILLBUCKET_BUCKET: bucket,
        SKILLBUCKET_TABLE: LOCAL_TABLE,
        SKILLBUCKET_S3_PATH_STYLE: 'true',
        SKILLBUCKET_LOG_LEVEL: 'silent',
      })) {
        vi.stubEnv(name, value);
      }
      await new S3Client({ forcePathStyle: true }).send(new CreateBucketCommand({ Bucket: bucket }));
      const credentials = dynamoCredentialStore(local.table);
      const tenant = newTenantId('acme');
      await credentials.createTenant({ id: tenant, name: 'Acme', status: 'active', created_at: 0 });
      const key = issueKey();
      await credentials.saveKey(key.secretHash, {
        id: key.id,
        tenant,
        scopes: ['catalog:read', 'skills:load', 'bundles:write'],
        created_at: 0,
      });
      const { handler } = await import('../../functions/api.ts');
      invoke = invoker(handler, key.key);
    });
    afterAll(async () => {
      vi.unstubAllEnvs();
      await local.close();
    });

    test('publish, list, load, read, publish again, clear', async () => {
      expect((await invoke('GET', '/readyz')).statusCode).toBe(200);
      const files = { 'demo/SKILL.md': skillMd('demo'), 'demo/references/a.md': '漢字' };
      expect((await invoke('PUT', '/v1/bundles/main', zipOf(files))).statusCode).toBe(201);
      expect((await invoke('PUT', '/v1/bundles/main', zipOf(files))).statusCode).toBe(200);
      const catalog = JSON.parse((await invoke('GET', '/v1/catalog')).body) as { skills: { name: string }[] };
      expect(catalog.skills.map((skill) => skill.name)).toEqual(
        expect.arrayContaining(['demo', 'sql-review']),
      );

      const context = { session_id: 's' };
      const load = JSON.stringify({ name: 'demo', context });
      expect(JSON.parse((await invoke('POST', '/v1/tools/load_skill', load)).body)).toMatchObject({
        instructions: '# demo\n',
      });
      const read = JSON.stringify({ name: 'demo', relative_path: 'references/a.md', context });
      expect(JSON.parse((await invoke('POST', '/v1/tools/load_skill_resource', read)).body)).toMatchObject({
        content: '漢字',
      });
      const changed = zipOf({ ...files, 'demo/references/a.md': 'new' });
      expect((await invoke('PUT', '/v1/bundles/main', changed, { 'if-none-match': '*' })).statusCode).toBe(
        412,
      );
      expect((await invoke('PUT', '/v1/bundles/main', changed)).statusCode).toBe(201);
      expect(JSON.parse((await invoke('POST', '/v1/tools/load_skill', load)).body)).toMatchObject({
        activation: { already_active: true, stale: true },
      });
      const back = await invoke('POST', '/v1/bundles/main/rollback', JSON.stringify({ revision: 1 }));
      expect(JSON.parse(back.body)).toMatchObject({ revision: 1, generation: 3 });
      expect((await invoke('DELETE', '/v1/sessions/s')).statusCode).toBe(204);
    });
  },
);
