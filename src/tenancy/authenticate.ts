import { LRUCache } from 'lru-cache';
import { SkillError } from '../core/errors.ts';
import type { TenantId } from '../core/ids.ts';
import { readKey } from './api-keys.ts';
import type { CredentialStore, Scope } from './credential-store.ts';

/** Who asks. */
export interface Principal {
  readonly tenant: TenantId;
  /** The key's id, for records and logs. */
  readonly id: string;
  readonly scopes: readonly Scope[];
}

export type Authenticate = (authorization: string | undefined) => Promise<Principal>;

/**
 * Checks `Authorization: Bearer sb_…` against the table. A key that was found good is asked about again after the
 * freshness window, so revoking a key or suspending a tenant takes effect within it. Unknown keys are never cached.
 *
 * @returns a function that throws SkillError unauthenticated
 */
export function apiKeyAuthenticator(
  credentials: CredentialStore,
  options: { readonly freshnessSeconds: number; readonly nowMs: () => number },
): Authenticate {
  interface Known {
    readonly principal: Principal;
    readonly checkedAt: number;
    readonly expiresAt: number | undefined;
  }
  const known = new LRUCache<string, Known>({ max: 10_000 });

  async function lookUp(keyId: string, secretHash: string, now: number): Promise<Known | undefined> {
    const key = await credentials.findKey(secretHash);
    if (key === undefined || key.id !== keyId || key.revoked_at !== undefined) return undefined;
    const tenant = await credentials.findTenant(key.tenant);
    if (tenant === undefined || tenant.status !== 'active') return undefined;
    const principal = { tenant: key.tenant, id: key.id, scopes: key.scopes };
    return { principal, checkedAt: now, expiresAt: key.expires_at };
  }

  return async (authorization) => {
    const token = /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
    if (token === undefined) throw new SkillError('unauthenticated');
    const key = readKey(token);
    if (key === undefined) throw new SkillError('unauthenticated');
    const now = options.nowMs();
    const cacheKey = `${key.id}:${key.secretHash}`;
    let entry = known.get(cacheKey);
    if (entry === undefined || now - entry.checkedAt >= options.freshnessSeconds * 1000) {
      entry = await lookUp(key.id, key.secretHash, now);
      if (entry === undefined) known.delete(cacheKey);
      else known.set(cacheKey, entry);
    }
    if (entry === undefined || (entry.expiresAt !== undefined && entry.expiresAt * 1000 <= now)) {
      throw new SkillError('unauthenticated');
    }
    return entry.principal;
  };
}
