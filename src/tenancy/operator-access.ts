import type { TenantId } from '../core/ids.ts';
import type { DeploymentPolicy } from '../core/policy/tenant-policy.ts';
import type { ManifestCache, TenantBundles } from '../sources/manifest-cache.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import type { Principal } from './authenticate.ts';
import type { CredentialStore } from './credential-store.ts';
import { OPERATOR, SHARED } from './reserved-tenants.ts';
import { readOnly, tenantStore } from './tenant-store.ts';
import type { TenantDirectory, TenantRegistry } from './tenant-registry.ts';

/**
 * What an operator of the deployment may touch: tenants, keys, policies and grants, and no tenant's content but to read
 * it. Minted for principals of the operator's own tenant alone, so no tenant's key can ever reach it.
 */
export interface OperatorAccess {
  readonly principal: Principal;
  readonly credentials: CredentialStore;
  readonly registry: TenantRegistry;
  readonly deployment: DeploymentPolicy;
  readonly now: () => Date;
  /** Bundles that can be granted. */
  shared(): Promise<TenantBundles>;
  bundlesOf(tenant: TenantId): Promise<TenantBundles>;
  /** A tenant's part of the bucket, to read. */
  objectsOf(tenant: TenantId): ObjectStore;
  /** After a change: this process sees it at once. */
  changed(tenant: TenantId): void;
}

export interface OperatorParts {
  readonly objects: ObjectStore;
  readonly credentials: CredentialStore;
  readonly registry: TenantRegistry;
  readonly tenants: TenantDirectory;
  readonly manifests: ManifestCache;
  readonly policy: DeploymentPolicy;
  readonly now: () => Date;
}

/** @throws TypeError when somebody else than an operator is handed in, which routes do not do */
export function operatorMint(parts: OperatorParts): (principal: Principal) => OperatorAccess {
  const bundlesOf = (tenant: TenantId) => parts.manifests.bundles(tenant, objectsOf(tenant));
  const objectsOf = (tenant: TenantId) => readOnly(tenantStore(parts.objects, tenant));
  return (principal) => {
    if (principal.tenant !== OPERATOR) throw new TypeError('Only operators administrate.');
    return {
      principal,
      credentials: parts.credentials,
      registry: parts.registry,
      deployment: parts.policy,
      now: parts.now,
      shared: () => bundlesOf(SHARED),
      bundlesOf,
      objectsOf,
      changed(tenant) {
        parts.tenants.forget(tenant);
        parts.manifests.forget(tenant);
      },
    };
  };
}
