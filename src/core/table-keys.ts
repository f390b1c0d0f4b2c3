import type { SessionId, SkillName, TenantId } from './ids.ts';

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

export const tenantKey = (tenant: TenantId): TableKey => ({ pk: `tenant#${tenant}`, sk: 'tenant' });

/** By hash, so that looking a key up compares nothing secret. */
export const apiKeyKey = (secretHash: string): TableKey => ({ pk: `key#${secretHash}`, sk: 'key' });
