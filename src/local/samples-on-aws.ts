import path from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { Hono } from 'hono';
import type { Logger } from '../log.ts';
import { s3Store } from '../aws-clients.ts';
import { composeAws } from '../compose.ts';
import { HOLD_REFUSED_MS } from '../core/limits.ts';
import type { Config } from '../config.ts';
import type { AppEnv } from '../http/route.ts';
import { packageRoot } from '../package-root.ts';
import { dynamoTable } from '../storage/table.ts';
import { dynamoCredentialStore } from '../tenancy/credential-store.ts';
import { createTable } from './create-table.ts';
import type { LocalFile } from './seed.ts';
import { seed } from './seed.ts';

/**
 * The service of `functions/api.ts` with the sample tenants, on an emulated AWS whose bucket exists. Table, tenants,
 * keys and bundles are made unless they are there.
 *
 * @param localFile where keys of an earlier start are kept
 */
export async function startSamplesOnAws(
  config: Config & { readonly bucket: string; readonly table: string },
  logger: Logger,
  localFile: string,
): Promise<{
  readonly app: Hono<AppEnv>;
  readonly tenants: LocalFile['tenants'];
  readonly operator: LocalFile['operator'];
}> {
  const client = new DynamoDBClient({});
  await createTable(client, config.table);
  const { tenants, operator } = await seed({
    objects: s3Store(config.bucket, config),
    credentials: dynamoCredentialStore(dynamoTable(client, { table: config.table })),
    samplesDir: path.join(packageRoot(), 'samples'),
    localFile,
    now: () => new Date(),
  });
  return { app: await composeAws(config, logger, { holdRefusedMs: HOLD_REFUSED_MS }), tenants, operator };
}
