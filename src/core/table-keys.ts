import type { BundleId, SessionId, SkillName, TenantId } from './ids.ts';
import type { RateKind, RateLimit } from './rate-limit.ts';
import type { Day } from './records/usage.ts';

/**
 * Every key of the table. `#` separates; ids cannot hold it, and session ids, which are the caller's own words, are
 * base64url. So no two things share a key and none can name another tenant's.
 */
export interface TableKey {
  readonly pk: string;
  readonly sk: string;
}

export const sessionPartition = (tenant: TenantId, session: SessionId): string =>
  `tenant#${tenant}#session#${Buffer.from(session, 'utf8').toString('base64url')}`;

export const activationKey = (tenant: TenantId, session: SessionId, skill: SkillName): TableKey => ({
  pk: sessionPartition(tenant, session),
  sk: `skill#${skill}`,
});

/** What a session's loads left, in order of time; two of one moment differ by `unique`. */
export const receiptsPartition = (tenant: TenantId, session: SessionId): string =>
  `tenant#${tenant}#receipts#${Buffer.from(session, 'utf8').toString('base64url')}`;

export const receiptKey = (tenant: TenantId, session: SessionId, time: string, unique: string): TableKey => ({
  pk: receiptsPartition(tenant, session),
  sk: `${time}#${unique}`,
});

/** How often skills were loaded. */
export const usagePartition = (tenant: TenantId): string => `tenant#${tenant}#usage`;
export const usageKey = (tenant: TenantId, day: Day, skill: SkillName): TableKey => ({
  pk: usagePartition(tenant),
  sk: `${day}#${skill}`,
});

/** What is decided about a tenant: its record, its policy, what is granted to it. Read whole, in one query. */
export const tenantPartition = (tenant: TenantId): string => `tenant#${tenant}`;
export const tenantKey = (tenant: TenantId): TableKey => ({ pk: tenantPartition(tenant), sk: 'tenant' });
export const policyKey = (tenant: TenantId): TableKey => ({ pk: tenantPartition(tenant), sk: 'policy' });
export const grantKey = (tenant: TenantId, bundle: BundleId): TableKey => ({
  pk: tenantPartition(tenant),
  sk: `grant#${bundle}`,
});

export const limitsKey = (tenant: TenantId): TableKey => ({ pk: tenantPartition(tenant), sk: 'limits' });

/** What is left of a tenant's token bucket. Another limit is another bucket: what was owed to the old one is not. */
export const rateKey = (tenant: TenantId, kind: RateKind, limit: RateLimit): TableKey => ({
  pk: `tenant#${tenant}#rates`,
  sk: `rate#${kind}#${limit.per_second}#${limit.burst}`,
});

/** Which tenants there are, and which keys a tenant has. */
export const TENANTS_PARTITION = 'tenants';
export const tenantIndexKey = (tenant: TenantId): TableKey => ({ pk: TENANTS_PARTITION, sk: tenant });
export const keysPartition = (tenant: TenantId): string => `tenant#${tenant}#keys`;
export const keyIndexKey = (tenant: TenantId, id: string): TableKey => ({
  pk: keysPartition(tenant),
  sk: `key#${id}`,
});

/** By hash, so that looking a key up compares nothing secret. */
export const apiKeyKey = (secretHash: string): TableKey => ({ pk: `key#${secretHash}`, sk: 'key' });
