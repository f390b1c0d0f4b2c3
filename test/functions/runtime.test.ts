import { execFile } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LOCAL_TABLE, startLocalTable } from '../../src/local/local-table.ts';
import type { LocalTable } from '../../src/local/local-table.ts';
import { packageRoot } from '../../src/package-root.ts';
import { issueKey } from '../../src/tenancy/api-keys.ts';
import { dynamoCredentialStore } from '../../src/tenancy/credential-store.ts';
import { newTenantId } from '../../src/tenancy/reserved-tenants.ts';
import { zipOf } from '../support/archive-bytes.ts';
import type { LambdaResult, WireAnswer } from '../support/lambda-answer.ts';
import { wireAnswerOf } from '../support/lambda-answer.ts';
import type { WireRequest } from '../support/lambda-event.ts';
import { eventOf } from '../support/lambda-event.ts';
import { parseStreamed } from '../support/lambda-runtime.ts';
import type { Posted, RunningFunction } from '../support/runtime-api.ts';
import { startFunction } from '../support/runtime-api.ts';
import { skillMd } from '../support/skills.ts';

const endpoint = process.env['SKILLBUCKET_TEST_S3_ENDPOINT'] ?? '';
const client = process.env['SKILLBUCKET_TEST_LAMBDA_RUNTIME'] ?? '';
const node = process.env['SKILLBUCKET_TEST_LAMBDA_NODE'] ?? '';
const isHere = endpoint !== '' && client !== '' && node !== '';
if (!isHere) {
  process.stderr.write(
    "\n*** NOT RUN: the function under Lambda's runtime client. SKILLBUCKET_TEST_LAMBDA_RUNTIME is not set; `.ci/run` runs it. ***\n\n",
  );
}

describe.skipIf(!isHere)("[D2] the API function as it is deployed, under Lambda's own runtime client", () => {
  let local: LocalTable;
  let folder: string;
  let env: Record<string, string>;
  let key: string;

  beforeAll(async () => {
    local = await startLocalTable({ accessKeyId: 'test' });
    folder = await mkdtemp(path.join(os.tmpdir(), 'skillbucket-function-'));
    const script = path.join(packageRoot(), 'scripts', 'bundle-functions.mjs');
    await promisify(execFile)(process.execPath, [script, '--out', folder]);
    const bucket = `skillbucket-test-${randomUUID()}`;
    const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
    const s3 = new S3Client({ endpoint, region: 'us-east-1', credentials, forcePathStyle: true });
    await s3.send(new CreateBucketCommand({ Bucket: bucket }));
    s3.destroy();
    env = {
      AWS_ENDPOINT_URL_S3: endpoint,
      AWS_ENDPOINT_URL_DYNAMODB: local.endpoint,
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'test',
      AWS_SECRET_ACCESS_KEY: 'test',
      SKILLBUCKET_BUCKET: bucket,
      SKILLBUCKET_TABLE: LOCAL_TABLE,
      SKILLBUCKET_S3_PATH_STYLE: 'true',
      SKILLBUCKET_BINARY: 'allow',
      SKILLBUCKET_LOG_LEVEL: 'silent',
    };
    const store = dynamoCredentialStore(local.table);
    const tenant = newTenantId('acme');
    await store.createTenant({ id: tenant, name: 'Acme', status: 'active', created_at: 0 });
    const issued = issueKey();
    key = issued.key;
    await store.saveKey(issued.secretHash, {
      id: issued.id,
      tenant,
      scopes: ['catalog:read', 'skills:load', 'bundles:write'],
      created_at: 0,
    });
  });
  afterAll(async () => {
    await local.close();
    await rm(folder, { recursive: true, force: true });
  });

  const buffered = ({ mode, path: posted, bytes }: Posted): WireAnswer => {
    expect([mode, posted.split('/').at(-1)]).toEqual([undefined, 'response']);
    return wireAnswerOf('Function URL', JSON.parse(bytes.toString()) as LambdaResult);
  };
  const streamed = ({ mode, contentType = '', bytes, trailers }: Posted): WireAnswer => {
    expect([mode, trailers]).toEqual(['streaming', {}]);
    return parseStreamed(contentType, bytes);
  };

  test.each([
    ['handler', buffered],
    ['streaming', streamed],
  ])('%s: publish, list, 304, load, bytes, range, HEAD, 204, refusals', async (name, answerOf) => {
    const started: RunningFunction = await startFunction({
      node,
      client,
      folder: path.join(folder, 'functions', 'api'),
      handler: `index.${name}`,
      env,
    });
    const send = async (request: WireRequest) => {
      const headers = [['x-skillbucket-authorization', `Bearer ${key}`], ...(request.headers ?? [])] as const;
      return answerOf(await started.invoke(eventOf['Function URL']({ ...request, headers })));
    };
    const call = (tool: string, body: object, ...headers: [string, string][]) =>
      send({
        method: 'POST',
        target: `/v1/tools/${tool}`,
        headers: [['content-type', 'application/json'], ...headers],
        body: JSON.stringify(body),
      });
    try {
      // Near the largest file that is served by default; other bytes in each test, as LocalStack answers a conditional
      // put of a large object that is there before it has read it, and then not again on that connection.
      const big = randomBytes(900_000);
      const archive = zipOf({
        [`${name}/SKILL.md`]: skillMd(name),
        [`${name}/big.bin`]: big,
        [`${name}/none.bin`]: '',
      });
      const put = await send({ method: 'PUT', target: `/v1/bundles/${name}`, body: archive });
      expect([put.status, put.headers.get('content-type')]).toEqual([201, 'application/json']);

      const listed = await send({ method: 'GET', target: '/v1/catalog' });
      const ifNoneMatch = ['if-none-match', listed.headers.get('etag') ?? ''] as const;
      const again = await send({ method: 'GET', target: '/v1/catalog', headers: [ifNoneMatch] });
      expect([again.status, again.bytes.length]).toEqual([304, 0]);
      const head = await send({ method: 'HEAD', target: '/v1/catalog' });
      expect([head.status, head.bytes.length, head.headers.get('etag')]).toEqual([200, 0, ifNoneMatch[1]]);

      const context = { session_id: name };
      expect((await call('load_skill', { name, context })).status).toBe(200);
      const bytes = (relative_path: string, ...headers: [string, string][]) =>
        call(
          'load_skill_resource',
          { name, relative_path, context },
          ['accept', 'application/octet-stream'],
          ...headers,
        );
      expect((await bytes('big.bin')).bytes.equals(big)).toBe(true);
      expect(await bytes('none.bin')).toMatchObject({ status: 200, bytes: Buffer.alloc(0) });
      const range = await bytes('big.bin', ['range', 'bytes=-5']);
      expect([range.status, range.bytes]).toEqual([206, big.subarray(-5)]);

      const gone = await send({ method: 'DELETE', target: `/v1/sessions/${name}` });
      expect([gone.status, gone.bytes.length]).toEqual([204, 0]);
      const missing = await send({ method: 'GET', target: '/v1/skills/nope' });
      expect([missing.status, missing.headers.get('content-type')]).toEqual([
        404,
        'application/problem+json',
      ]);
      const broken = await send({ method: 'POST', target: '/v1/validate', body: '%', isBase64Encoded: true });
      expect(broken.status).toBe(400);
    } finally {
      await started.stop();
    }
  });
});
