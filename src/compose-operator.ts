import { awsTable, s3Store } from './aws-clients.ts';
import type { AppEnv } from './http/route.ts';
import type { Hono } from 'hono';
import { composeService } from './compose.ts';
import type { Config } from './config.ts';
import { SkillError } from './core/errors.ts';
import { createLogger } from './log.ts';
import type { ObjectStore } from './storage/object-store.ts';
import type { SkillSource } from './sources/source.ts';
import { OPERATOR } from './tenancy/reserved-tenants.ts';

/**
 * The service in this process, for an operator with AWS credentials: whoever may write the table needs no key. That is
 * how the first tenant and the first operator's key come to be.
 */
export function composeOperator(
  config: Config,
  place: { readonly table: string; readonly bucket?: string; readonly region?: string },
): Hono<AppEnv> {
  const now = () => new Date();
  return composeService({
    objects: place.bucket === undefined ? noBucket : s3Store(place.bucket, config),
    transfers: { signPut: refuse, signGet: refuse },
    table: awsTable(place.table, place.region),
    builtin: noSkills,
    config,
    logger: createLogger('silent'),
    whoAsks: () =>
      Promise.resolve({
        principal: { tenant: OPERATOR, id: 'operator', scopes: ['admin'] },
        tenant: {
          record: { id: OPERATOR, name: OPERATOR, status: 'active', created_at: 0 },
          policy: undefined,
          grants: new Map(),
          limits: undefined,
        },
      }),
    now,
  });
}

const refuse = (): Promise<never> =>
  Promise.reject(
    new SkillError('invalid_request', { detail: 'Say which bucket: --outputs FILE, or SKILLBUCKET_BUCKET.' }),
  );

const noBucket: ObjectStore = {
  get: refuse,
  put: refuse,
  size: refuse,
  list: () => ({ [Symbol.asyncIterator]: () => ({ next: refuse }) }),
};

const noSkills: SkillSource = {
  root: { owner: 'builtin', bundle: 'builtin' },
  discover: () => Promise.resolve(undefined),
  files: refuse,
  read: refuse,
};
