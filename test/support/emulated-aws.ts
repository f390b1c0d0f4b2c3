import { randomUUID } from 'node:crypto';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { vi } from 'vitest';
import { s3Store } from '../../src/aws-clients.ts';
import { readConfig } from '../../src/config.ts';
import { createTable } from '../../src/local/create-table.ts';
import type { ObjectStore } from '../../src/storage/object-store.ts';
import type { Table } from '../../src/storage/table.ts';
import { dynamoTable } from '../../src/storage/table.ts';
import { issueKey } from '../../src/tenancy/api-keys.ts';
import { dynamoCredentialStore } from '../../src/tenancy/credential-store.ts';
import { newTenantId } from '../../src/tenancy/reserved-tenants.ts';
import type { Caller } from './call.ts';
import { functionCaller } from './lambda-event.ts';

/** A bucket and a table of their own at the emulator, and the API as a function on them. */
export interface EmulatedAws {
  /** The name of both. */
  readonly name: string;
  readonly s3: S3Client;
  readonly objects: ObjectStore;
  readonly table: Table;
  /** A client of the API with a key of that tenant. */
  callerOf(tenant: string): Promise<Caller>;
}

/**
 * Where the emulator is, or an empty text and a notice that what it would prove is not proved.
 *
 * @param asked SKILLBUCKET_TEST_S3_ENDPOINT: a shell may have an AWS_ENDPOINT_URL that is not meant for tests
 */
export function emulatorEndpoint(asked: string | undefined, what: string): string {
  const endpoint = asked === undefined ? '' : (process.env['AWS_ENDPOINT_URL'] ?? '');
  if (endpoint === '') {
    process.stderr.write(
      `\n*** NOT RUN: ${what}. There is no emulated AWS; \`.ci/run\` starts one (docs/localstack.md). ***\n\n`,
    );
  }
  return endpoint;
}

/** Configured as a function is: by the environment, which names one endpoint and nothing of the emulator's. */
export async function startOnEmulator(settings: Readonly<Record<string, string>> = {}): Promise<EmulatedAws> {
  const name = `skillbucket-test-${randomUUID()}`;
  for (const [variable, value] of Object.entries({
    AWS_ENDPOINT_URL_S3: undefined,
    AWS_ENDPOINT_URL_DYNAMODB: undefined,
    SKILLBUCKET_BUCKET: name,
    SKILLBUCKET_TABLE: name,
    SKILLBUCKET_LOG_LEVEL: 'silent',
    // The indexer is another process to the API, and tests do not wait for it to look again.
    SKILLBUCKET_FRESHNESS_SECONDS: '0',
    ...settings,
  })) {
    vi.stubEnv(variable, value);
  }
  const config = readConfig(process.env);
  const s3 = new S3Client({ forcePathStyle: config.s3PathStyle });
  await s3.send(new CreateBucketCommand({ Bucket: name }));
  const dynamodb = new DynamoDBClient({});
  await createTable(dynamodb, name);
  const table = dynamoTable(dynamodb, { table: name });
  const credentials = dynamoCredentialStore(table);
  const { handler } = await import('../../functions/api.ts');
  return {
    name,
    s3,
    table,
    objects: s3Store(name, config),
    async callerOf(tenant) {
      const id = newTenantId(tenant);
      const key = issueKey();
      await credentials.createTenant({ id, name: tenant, status: 'active', created_at: 0 });
      await credentials.saveKey(key.secretHash, {
        id: key.id,
        tenant: id,
        scopes: ['catalog:read', 'skills:load', 'bundles:write'],
        created_at: 0,
      });
      return functionCaller(handler, key.key);
    },
  };
}
