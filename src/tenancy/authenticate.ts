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

/** That a key is in use is written down so often at the most. */
const USED_EVERY_SECONDS = 60 * 60;

export interface Authenticated {
  readonly principal: Principal;
  /** What is written down meanwhile; to be awaited before the answer, as a function stops with it. Does not fail. */
  readonly noted?: Promise<void>;
}

export type Authenticate = (authorization: string | undefined) => Promise<Authenticated>;

/**
 * Checks `Authorization: Bearer sb_…` against the table. A key that was found good is asked about again after the
 * freshness window, so revoking it takes effect within it. Unknown keys are never cached. Whether the tenant may be
 * served is asked after this (who-asks.ts).
 *
 * @returns a function that throws SkillError unauthenticated
 */
export function apiKeyAuthenticator(
  credentials: Pick<CredentialStore, 'findKey' | 'keyUsed'>,
  options: { readonly freshnessSeconds: number; readonly nowMs: () => number },
): Authenticate {
  interface Known {
    readonly principal: Principal;
    readonly checkedAt: number;
    readonly expiresAt: number | undefined;
    /** Whether it has not been written down lately that the key is in use. */
    readonly isDue: boolean;
  }
  const known = new LRUCache<string, Known>({ max: 10_000 });

  async function lookUp(keyId: string, secretHash: string, now: number): Promise<Known | undefined> {
    const key = await credentials.findKey(secretHash);
    if (key === undefined || key.id !== keyId || key.revoked_at !== undefined) return undefined;
    const principal = { tenant: key.tenant, id: key.id, scopes: key.scopes };
    const isDue = now / 1000 - (key.last_used_at ?? 0) > USED_EVERY_SECONDS;
    return { principal, checkedAt: now, expiresAt: key.expires_at, isDue };
  }

  async function note(secretHash: string, now: number): Promise<void> {
    try {
      await credentials.keyUsed(secretHash, Math.floor(now / 1000));
    } catch (error) {
      // The next look at the key makes up for it.
      if (!(error instanceof SkillError)) throw error;
    }
  }

  return async (authorization) => {
    const token = /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
    if (token === undefined) throw new SkillError('unauthenticated');
    const key = readKey(token);
    if (key === undefined) throw new SkillError('unauthenticated');
    const now = options.nowMs();
    const cacheKey = `${key.id}:${key.secretHash}`;
    let entry = known.get(cacheKey);
    let noted: Promise<void> | undefined;
    if (entry === undefined || now - entry.checkedAt >= options.freshnessSeconds * 1000) {
      entry = await lookUp(key.id, key.secretHash, now);
      if (entry === undefined) known.delete(cacheKey);
      else known.set(cacheKey, entry);
      if (entry?.isDue === true) noted = note(key.secretHash, now);
    }
    if (entry === undefined || (entry.expiresAt !== undefined && entry.expiresAt * 1000 <= now)) {
      throw new SkillError('unauthenticated');
    }
    return { principal: entry.principal, ...(noted === undefined ? {} : { noted }) };
  };
}
