import type { TenantId } from '../core/ids.ts';
import { isTenantId } from '../core/ids.ts';
import {
  apiKeyKey,
  keyIndexKey,
  keysPartition,
  TENANTS_PARTITION,
  tenantIndexKey,
  tenantKey,
} from '../core/table-keys.ts';
import type { Item, Table } from '../storage/table.ts';
import * as z from '../core/zod.ts';

export const SCOPES = [
  'catalog:read',
  'skills:load',
  'bundles:write',
  'runtime:write',
  'policy:write',
  'admin',
] as const;
export type Scope = (typeof SCOPES)[number];

const tenantSchema = z.custom<TenantId>((value) => typeof value === 'string' && isTenantId(value));

/** An API key as stored: a hash of the secret, never the secret. Times are epoch seconds. */
export const apiKeySchema = z.strictObject({
  id: z.string(),
  tenant: tenantSchema,
  scopes: z.array(z.enum(SCOPES)),
  /** What its owner calls it. */
  label: z.exactOptional(z.string()),
  created_at: z.number(),
  expires_at: z.exactOptional(z.number()),
  revoked_at: z.exactOptional(z.number()),
  /** To within an hour. */
  last_used_at: z.exactOptional(z.number()),
});
export type ApiKey = z.infer<typeof apiKeySchema>;

export const tenantRecordSchema = z.strictObject({
  id: tenantSchema,
  name: z.string(),
  /** `deleting` until everything of the tenant is gone; the id of a deleted one is not used again. */
  status: z.enum(['active', 'suspended', 'deleting', 'deleted']),
  created_at: z.number(),
  changed_at: z.exactOptional(z.number()),
});
export type TenantRecord = z.infer<typeof tenantRecordSchema>;

/** Tenants and their keys. */
export interface CredentialStore {
  findKey(secretHash: string): Promise<ApiKey | undefined>;
  saveKey(secretHash: string, key: ApiKey): Promise<void>;
  /** Of one tenant, by id. */
  keysOf(tenant: TenantId): Promise<ApiKey[]>;
  /** The key as it is then; undefined when the tenant has no such key. Revoking again changes nothing. */
  revokeKey(tenant: TenantId, id: string, at: number): Promise<ApiKey | undefined>;
  keyUsed(secretHash: string, at: number): Promise<void>;
  findTenant(tenant: TenantId): Promise<TenantRecord | undefined>;
  /** False when there is a tenant of that id, or has been. */
  createTenant(record: TenantRecord): Promise<boolean>;
  /** Replaces the record of a tenant; false when it is not in the given status any more. */
  changeTenant(record: TenantRecord, from: TenantRecord['status']): Promise<boolean>;
  /** Every tenant, by id. */
  tenants(): AsyncIterable<TenantRecord>;
}

export function dynamoCredentialStore(table: Table): CredentialStore {
  async function findTenant(tenant: TenantId): Promise<TenantRecord | undefined> {
    const item = await table.get(tenantKey(tenant));
    return item === undefined ? undefined : tenantRecordSchema.parse(withoutKeys(item));
  }
  async function findKey(secretHash: string): Promise<ApiKey | undefined> {
    const item = await table.get(apiKeyKey(secretHash));
    return item === undefined ? undefined : apiKeySchema.parse(withoutKeys(item));
  }
  async function hashOf(tenant: TenantId, id: string): Promise<string | undefined> {
    const item = await table.get(keyIndexKey(tenant, id));
    return item === undefined ? undefined : String(item['secret_hash']);
  }

  return {
    findKey,
    async saveKey(secretHash, key) {
      // Listed first: a key that works is never one that nobody can find to revoke.
      await table.put(keyIndexKey(key.tenant, key.id), { secret_hash: secretHash });
      await table.put(apiKeyKey(secretHash), key);
    },
    async keysOf(tenant) {
      const hashes: string[] = [];
      for await (const item of table.query(keysPartition(tenant))) hashes.push(String(item['secret_hash']));
      const keys = await Promise.all(hashes.map(findKey));
      return keys.filter((key) => key !== undefined);
    },
    async revokeKey(tenant, id, at) {
      const secretHash = await hashOf(tenant, id);
      if (secretHash === undefined) return undefined;
      await table.set(
        apiKeyKey(secretHash),
        { revoked_at: at },
        { expression: 'attribute_exists(pk) AND attribute_not_exists(revoked_at)' },
      );
      return findKey(secretHash);
    },
    async keyUsed(secretHash, at) {
      await table.set(apiKeyKey(secretHash), { last_used_at: at }, { expression: 'attribute_exists(pk)' });
    },
    findTenant,
    async createTenant(record) {
      // Listed first, for the same reason.
      await table.put(tenantIndexKey(record.id), {});
      const stored = await table.put(tenantKey(record.id), record, {
        expression: 'attribute_not_exists(pk)',
      });
      return stored === 'stored';
    },
    async changeTenant(record, from) {
      const stored = await table.put(tenantKey(record.id), record, {
        expression: '#status = :from',
        names: { '#status': 'status' },
        values: { ':from': from },
      });
      return stored === 'stored';
    },
    async *tenants() {
      for await (const item of table.query(TENANTS_PARTITION)) {
        const record = await findTenant(String(item['sk']) as TenantId);
        if (record !== undefined) yield record;
      }
    },
  };
}

/** An item as it was put. */
export function withoutKeys(item: Item): Record<string, unknown> {
  return Object.fromEntries(Object.entries(item).filter(([name]) => name !== 'pk' && name !== 'sk'));
}
