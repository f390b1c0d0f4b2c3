import { LRUCache } from 'lru-cache';
import { SkillError } from '../core/errors.ts';
import type { BundleId, TenantId } from '../core/ids.ts';
import { isBundleId } from '../core/ids.ts';
import type { StoredPolicy } from '../core/policy/tenant-policy.ts';
import { storedPolicySchema } from '../core/policy/tenant-policy.ts';
import { rateLimitsSchema } from '../core/rate-limit.ts';
import { grantKey, limitsKey, policyKey, tenantPartition } from '../core/table-keys.ts';
import type { Table } from '../storage/table.ts';
import * as z from '../core/zod.ts';
import type { TenantRecord } from './credential-store.ts';
import { tenantRecordSchema, withoutKeys } from './credential-store.ts';

const grantSchema = z.strictObject({ granted_by: z.string(), granted_at: z.string() });
/** A shared bundle that the tenant may read, with who granted it and when. */
export type Grant = z.infer<typeof grantSchema>;

/** Limits that an operator set in place of the deployment's, with who did and when. */
const decidedLimitsSchema = z.strictObject({
  limits: rateLimitsSchema,
  decided_by: z.string(),
  decided_at: z.string(),
});
export type DecidedLimits = z.infer<typeof decidedLimitsSchema>;

/** What is decided about a tenant. */
export interface TenantState {
  readonly record: TenantRecord;
  readonly policy: StoredPolicy | undefined;
  readonly grants: ReadonlyMap<BundleId, Grant>;
  readonly limits: DecidedLimits | undefined;
}

/** Where it is decided. */
export interface TenantRegistry {
  /** Everything of one tenant, in one query. */
  read(tenant: TenantId): Promise<TenantState | undefined>;
  /** False when the policy is not the given version any more (undefined: when there is one already). */
  savePolicy(tenant: TenantId, policy: StoredPolicy, from: number | undefined): Promise<boolean>;
  grant(tenant: TenantId, bundle: BundleId, grant: Grant): Promise<void>;
  withdraw(tenant: TenantId, bundle: BundleId): Promise<void>;
  saveLimits(tenant: TenantId, limits: DecidedLimits): Promise<void>;
}

export function dynamoTenantRegistry(table: Table): TenantRegistry {
  return {
    async read(tenant) {
      let record: TenantRecord | undefined;
      let policy: StoredPolicy | undefined;
      let limits: DecidedLimits | undefined;
      const grants = new Map<BundleId, Grant>();
      for await (const item of table.query(tenantPartition(tenant))) {
        const [kind, bundle = ''] = String(item['sk']).split('#');
        if (kind === 'tenant') record = tenantRecordSchema.parse(withoutKeys(item));
        else if (kind === 'policy') policy = storedPolicySchema.parse(JSON.parse(String(item['document'])));
        else if (kind === 'limits') limits = decidedLimitsSchema.parse(withoutKeys(item));
        else if (kind === 'grant' && isBundleId(bundle)) {
          grants.set(bundle, grantSchema.parse(withoutKeys(item)));
        }
      }
      return record === undefined ? undefined : { record, policy, grants, limits };
    },
    async savePolicy(tenant, policy, from) {
      const stored = await table.put(
        policyKey(tenant),
        { version: policy.version, document: JSON.stringify(policy) },
        from === undefined
          ? { expression: 'attribute_not_exists(pk)' }
          : { expression: 'version = :from', values: { ':from': from } },
      );
      return stored === 'stored';
    },
    async grant(tenant, bundle, grant) {
      // Granting again keeps who granted first.
      await table.put(grantKey(tenant, bundle), grant, { expression: 'attribute_not_exists(pk)' });
    },
    async withdraw(tenant, bundle) {
      await table.delete(grantKey(tenant, bundle));
    },
    async saveLimits(tenant, limits) {
      await table.put(limitsKey(tenant), limits);
    },
  };
}

/** Where one tenant's policy stands, and where its next one goes. */
export interface PolicyPlace {
  /** As it is now, not from a cache. */
  read(): Promise<Pick<TenantState, 'policy' | 'grants'>>;
  /** False when the policy is not of that version any more. */
  save(policy: StoredPolicy, from: number | undefined): Promise<boolean>;
}

export function policyPlace(registry: TenantRegistry, tenant: TenantId): PolicyPlace {
  return {
    async read() {
      const state = await registry.read(tenant);
      if (state === undefined) throw new SkillError('not_found');
      return state;
    },
    save: (policy, from) => registry.savePolicy(tenant, policy, from),
  };
}

/** Tenants as a warm process knows them: asked about again after the freshness window. Refusals are not remembered. */
export interface TenantDirectory {
  /** @throws SkillError unauthenticated when there is no such tenant, forbidden when it is suspended */
  active(tenant: TenantId): Promise<TenantState>;
  /** After a change: this process sees it at once. */
  forget(tenant: TenantId): void;
}

export function tenantDirectory(
  registry: Pick<TenantRegistry, 'read'>,
  options: { readonly freshnessSeconds: number; readonly nowMs: () => number },
): TenantDirectory {
  const known = new LRUCache<TenantId, { readonly state: TenantState; readonly checkedAt: number }>({
    max: 10_000,
  });
  return {
    async active(tenant) {
      const now = options.nowMs();
      const held = known.get(tenant);
      if (held !== undefined && now - held.checkedAt < options.freshnessSeconds * 1000) return held.state;
      const state = await registry.read(tenant);
      known.delete(tenant);
      if (state === undefined) throw new SkillError('unauthenticated');
      const { status } = state.record;
      if (status === 'suspended') throw new SkillError('forbidden', { detail: 'This tenant is suspended.' });
      if (status !== 'active') throw new SkillError('unauthenticated');
      known.set(tenant, { state, checkedAt: now });
      return state;
    },
    forget(tenant) {
      known.delete(tenant);
    },
  };
}
