import type { TenantId } from '../core/ids.ts';
import { isTenantId } from '../core/ids.ts';
import { apiKeyKey, tenantKey } from '../core/table-keys.ts';
import type { Table } from '../storage/table.ts';
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
  created_at: z.number(),
  expires_at: z.exactOptional(z.number()),
  revoked_at: z.exactOptional(z.number()),
});
export type ApiKey = z.infer<typeof apiKeySchema>;

export const tenantRecordSchema = z.strictObject({
  id: tenantSchema,
  name: z.string(),
  status: z.enum(['active', 'suspended']),
  created_at: z.number(),
});
export type TenantRecord = z.infer<typeof tenantRecordSchema>;

/** Tenants and their keys. */
export interface CredentialStore {
  findKey(secretHash: string): Promise<ApiKey | undefined>;
  saveKey(secretHash: string, key: ApiKey): Promise<void>;
  findTenant(tenant: TenantId): Promise<TenantRecord | undefined>;
  saveTenant(record: TenantRecord): Promise<void>;
}

export function dynamoCredentialStore(table: Table): CredentialStore {
  return {
    async findKey(secretHash) {
      const item = await table.get(apiKeyKey(secretHash));
      return item === undefined ? undefined : apiKeySchema.parse(withoutKeys(item));
    },
    async saveKey(secretHash, key) {
      await table.put(apiKeyKey(secretHash), key);
    },
    async findTenant(tenant) {
      const item = await table.get(tenantKey(tenant));
      return item === undefined ? undefined : tenantRecordSchema.parse(withoutKeys(item));
    },
    async saveTenant(record) {
      await table.put(tenantKey(record.id), record);
    },
  };
}

function withoutKeys(item: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(item).filter(([name]) => name !== 'pk' && name !== 'sk'));
}
