import { randomUUID } from 'node:crypto';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { s3Store } from '../../src/aws-clients.ts';
import type { ObjectStore } from '../../src/storage/object-store.ts';
import { objectStoreContract } from './object-store-suite.ts';

const endpoint = process.env['SKILLBUCKET_TEST_S3_ENDPOINT'] ?? '';
const skip = endpoint === '';
if (skip) {
  process.stderr.write(
    '\n' +
      '  ################################################################################\n' +
      '  #  NOT TESTED: the S3 store against a server. SKILLBUCKET_TEST_S3_ENDPOINT is  #\n' +
      '  #  not set. `.ci/run` starts a server and runs these tests (docs/storage.md).  #\n' +
      '  ################################################################################\n\n',
  );
}

// As an operator sets it: everything by the environment, and nothing in the code (D6).
beforeAll(() => {
  vi.stubEnv('AWS_ENDPOINT_URL_S3', endpoint);
  vi.stubEnv('AWS_REGION', process.env['AWS_REGION'] ?? 'us-east-1');
  vi.stubEnv('AWS_ACCESS_KEY_ID', process.env['AWS_ACCESS_KEY_ID'] ?? 'test');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', process.env['AWS_SECRET_ACCESS_KEY'] ?? 'test');
});
afterAll(() => {
  vi.unstubAllEnvs();
});

for (const s3Checksums of ['when_supported', 'when_required'] as const) {
  const config = { s3Checksums, s3PathStyle: true };
  let bucket: Promise<string> | undefined;
  let stores = 0;
  objectStoreContract(
    `S3 at a server, checksums ${s3Checksums}`,
    async () => below(s3Store(await (bucket ??= newBucket()), config), `clause-${(stores += 1)}/`),
    { skip },
  );
}

describe.skipIf(skip)('S3 at a server: what is wrong is unavailable, and never absent or stale', () => {
  const config = { s3Checksums: 'when_supported', s3PathStyle: true } as const;

  test('a bucket that is not there', async () => {
    await expectUnavailable(s3Store(`missing-${randomUUID()}`, config));
  });

  test('nobody at the endpoint', async () => {
    vi.stubEnv('AWS_ENDPOINT_URL_S3', 'http://127.0.0.1:1');
    const store = s3Store('bucket', config);
    await expectUnavailable(store);
    vi.stubEnv('AWS_ENDPOINT_URL_S3', endpoint);
  });

  async function expectUnavailable(store: ObjectStore): Promise<void> {
    const bytes = new Uint8Array([1]);
    await expect(store.get('key')).rejects.toMatchObject({ code: 'unavailable' });
    await expect(store.put('key', bytes, 'absent')).rejects.toMatchObject({ code: 'unavailable' });
    await expect(store.put('key', bytes, { matches: '"1"' })).rejects.toMatchObject({ code: 'unavailable' });
    await expect(keysOf(store)).rejects.toMatchObject({ code: 'unavailable' });
  }
});

async function newBucket(): Promise<string> {
  const client = new S3Client({ forcePathStyle: true });
  const bucket = `skillbucket-test-${randomUUID()}`;
  await client.send(new CreateBucketCommand({ Bucket: bucket }));
  client.destroy();
  return bucket;
}

/** A part of a bucket, so that each clause has an empty store. */
function below(store: ObjectStore, prefix: string): ObjectStore {
  return {
    get: (key, unless) => store.get(prefix + key, unless),
    put: (key, bytes, condition) => store.put(prefix + key, bytes, condition),
    size: (key) => store.size(prefix + key),
    async *list(inner) {
      for await (const key of store.list(prefix + inner)) yield key.slice(prefix.length);
    },
  };
}

async function keysOf(store: ObjectStore): Promise<string[]> {
  const keys: string[] = [];
  for await (const key of store.list('')) keys.push(key);
  return keys;
}
