import { SkillError } from '../core/errors.ts';
import type { BundleId, TenantId } from '../core/ids.ts';
import { tenantId } from '../core/ids.ts';
import type { DeploymentPolicy } from '../core/policy/tenant-policy.ts';
import { effectivePolicy } from '../core/policy/tenant-policy.ts';
import { dynamoActivationStore } from '../sessions/dynamodb.ts';
import { bucketSource, type FileListCache } from '../sources/bucket.ts';
import type { CatalogCache } from '../sources/composite.ts';
import type { ManifestCache } from '../sources/manifest-cache.ts';
import type { SkillSource } from '../sources/source.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import type { Transfers } from '../storage/transfers.ts';
import type { Table } from '../storage/table.ts';
import type { Caller } from './who-asks.ts';
import type { TenantAccess } from './tenant-access.ts';
import { tenantStore, tenantTransfers } from './tenant-store.ts';
import type { ValidationCache } from './validation-cache.ts';

export interface AccessParts {
  readonly objects: ObjectStore;
  readonly transfers: Transfers;
  readonly table: Table;
  readonly builtin: SkillSource;
  readonly manifests: ManifestCache;
  readonly catalogs: CatalogCache;
  readonly fileLists: FileListCache;
  readonly validations: ValidationCache;
  /** What no tenant may exceed. */
  readonly policy: DeploymentPolicy;
  readonly sessionTtlSeconds: number;
  readonly now: () => Date;
}

/** Mints what a request may touch from who asks; the only place where a tenant is chosen. */
export function accessMint(parts: AccessParts): (caller: Caller) => TenantAccess {
  return ({ principal, tenant: state }) => {
    const { tenant } = principal;
    const objects = tenantStore(parts.objects, tenant);
    const transfers = tenantTransfers(parts.transfers, tenant);
    const bundles = () => parts.manifests.bundles(tenant, objects);
    const ownSource = (bundle: BundleId): SkillSource =>
      bucketSource({
        tenant,
        bundle,
        objects,
        transfers,
        snapshot: async () => (await bundles()).get(bundle)?.snapshot,
        fileLists: parts.fileLists,
      });
    const nowSeconds = () => Math.floor(parts.now().getTime() / 1000);

    return {
      tenant,
      principal,
      policy: effectivePolicy(parts.policy, state.policy),
      objects,
      transfers,
      activations: dynamoActivationStore(parts.table, tenant, nowSeconds),
      sessionTtlSeconds: parts.sessionTtlSeconds,
      now: parts.now,
      async catalog() {
        const own = [...(await bundles()).keys()].map(ownSource);
        return parts.catalogs.catalog(tenant, [...own, parts.builtin]);
      },
      async catalogOf(names) {
        const all = await bundles();
        const missing = names.find((name) => !all.has(name));
        if (missing !== undefined)
          throw new SkillError('not_found', { detail: `There is no bundle "${missing}".` });
        return parts.catalogs.catalog(`${tenant}/${names.join('/')}`, names.map(ownSource));
      },
      bundles,
      bundle: async (name) => (await bundles()).get(name),
      source(root) {
        if (root.owner === parts.builtin.root.owner) return parts.builtin;
        return root.owner === tenant ? ownSource(root.bundle as BundleId) : undefined;
      },
      validated: (key, validate) => parts.validations.get(tenant, key, validate),
      changed() {
        parts.manifests.forget(tenant);
      },
    };
  };
}

/** Tenant ids that would be mistaken for owners of ours in a location. */
const RESERVED: ReadonlySet<string> = new Set(['builtin', 'shared']);

/** @throws SkillError invalid_request */
export function newTenantId(value: string): TenantId {
  if (RESERVED.has(value)) {
    throw new SkillError('invalid_request', { detail: `The tenant id "${value}" is reserved.` });
  }
  return tenantId(value);
}
