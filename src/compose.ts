import path from 'node:path';
import type { Hono } from 'hono';
import { awsTable, s3Client } from './aws-clients.ts';
import type { Config } from './config.ts';
import { SkillError } from './core/errors.ts';
import type { AppParts } from './http/app.ts';
import { createApp } from './http/app.ts';
import type { AppEnv } from './http/route.ts';
import type { Logger } from './log.ts';
import { packageRoot } from './package-root.ts';
import { fileListCache } from './sources/bucket.ts';
import { builtinSource } from './sources/builtin.ts';
import { catalogCache } from './sources/composite.ts';
import { manifestCache } from './sources/manifest-cache.ts';
import type { SkillSource } from './sources/source.ts';
import type { ObjectStore } from './storage/object-store.ts';
import { s3ObjectStore } from './storage/s3.ts';
import { s3Transfers } from './storage/s3-transfers.ts';
import type { Transfers } from './storage/transfers.ts';
import type { Table } from './storage/table.ts';
import { apiKeyAuthenticator } from './tenancy/authenticate.ts';
import { dynamoCredentialStore } from './tenancy/credential-store.ts';
import { accessMint } from './tenancy/mint-access.ts';
import { operatorMint } from './tenancy/operator-access.ts';
import { rateLimiter } from './tenancy/rate-limiter.ts';
import { dynamoTenantRegistry, tenantDirectory } from './tenancy/tenant-registry.ts';
import { validationCache } from './tenancy/validation-cache.ts';
import { whoAsks } from './tenancy/who-asks.ts';

export interface ServiceParts {
  readonly objects: ObjectStore;
  readonly transfers: Transfers;
  readonly table: Table;
  readonly builtin: SkillSource;
  readonly config: Pick<
    Config,
    'freshnessSeconds' | 'sessionTtlSeconds' | 'receiptDays' | 'maxTokens' | 'resources' | 'rateLimits'
  >;
  readonly logger: Logger;
  readonly holdRefusedMs?: number;
  /** In place of the credentials that the table knows. */
  readonly whoAsks?: AppParts['whoAsks'];
  readonly now?: () => Date;
  /** Further routes beside the service's own. */
  readonly mount?: (app: Hono<AppEnv>) => void;
}

/** Puts the service together; the only place that knows every part. */
export function composeService(parts: ServiceParts): Hono<AppEnv> {
  const { objects, table, config } = parts;
  const now = parts.now ?? (() => new Date());
  const clock = { freshnessSeconds: config.freshnessSeconds, nowMs: () => now().getTime() };
  const credentials = dynamoCredentialStore(table);
  const registry = dynamoTenantRegistry(table);
  const manifests = manifestCache(clock);
  const policy = { resources: config.resources, maxTokens: config.maxTokens };
  const tenants = tenantDirectory(registry, clock);
  return createApp({
    whoAsks:
      parts.whoAsks ??
      whoAsks({
        authenticate: apiKeyAuthenticator(credentials, clock),
        tenants,
      }),
    mint: accessMint({
      objects,
      transfers: parts.transfers,
      table,
      registry,
      tenants,
      builtin: parts.builtin,
      manifests,
      catalogs: catalogCache(),
      fileLists: fileListCache(),
      validations: validationCache(),
      policy,
      sessionTtlSeconds: config.sessionTtlSeconds,
      receiptDays: config.receiptDays,
      now,
    }),
    rateLimiter: rateLimiter(table, clock),
    rateLimits: config.rateLimits,
    holdRefusedMs: parts.holdRefusedMs ?? 0,
    mintOperator: operatorMint({ objects, credentials, registry, tenants, manifests, policy, now }),
    probe: async () => {
      await Promise.all([objects.get('probe'), table.get({ pk: 'probe', sk: 'probe' })]);
    },
    logger: parts.logger,
    ...(parts.mount === undefined ? {} : { mount: parts.mount }),
  });
}

/** The service on S3 and DynamoDB. @throws SkillError invalid_request when bucket or table is not configured */
export async function composeAws(
  config: Config,
  logger: Logger,
  options: Pick<ServiceParts, 'holdRefusedMs'> = {},
): Promise<Hono<AppEnv>> {
  const { bucket, table } = config;
  if (bucket === undefined || table === undefined) {
    throw new SkillError('invalid_request', {
      detail: 'Set SKILLBUCKET_BUCKET and SKILLBUCKET_TABLE together.',
    });
  }
  // Read while the clients are made.
  const builtin = builtinSource(path.join(packageRoot(), 'skills-bundle'));
  const client = s3Client(config);
  return composeService({
    objects: s3ObjectStore(client, { bucket }),
    transfers: s3Transfers(client, { bucket }),
    table: awsTable(table),
    builtin: await builtin,
    config,
    logger,
    ...options,
  });
}
