import { SkillError } from '../core/errors.ts';
import type { BundleId } from '../core/ids.ts';
import type { DeploymentPolicy } from '../core/policy/tenant-policy.ts';
import type { RootDecision } from '../core/policy/roots.ts';
import { decideRoots, rootFindings } from '../core/policy/roots.ts';
import type { RootOwner } from '../core/policy/tenant-policy.ts';
import { effectivePolicy } from '../core/policy/tenant-policy.ts';
import { dynamoLoadRecords } from '../records/dynamodb.ts';
import { dynamoActivationStore } from '../sessions/dynamodb.ts';
import { bucketSource, type FileListCache } from '../sources/bucket.ts';
import type { CatalogCache } from '../sources/composite.ts';
import type { ManifestCache } from '../sources/manifest-cache.ts';
import type { SkillSource } from '../sources/source.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import type { Transfers } from '../storage/transfers.ts';
import type { Table } from '../storage/table.ts';
import type { Caller } from './who-asks.ts';
import { SHARED } from './reserved-tenants.ts';
import type { TenantAccess } from './tenant-access.ts';
import type { TenantDirectory, TenantRegistry } from './tenant-registry.ts';
import { policyPlace } from './tenant-registry.ts';
import { readOnly, tenantStore, tenantTransfers } from './tenant-store.ts';
import type { ValidationCache } from './validation-cache.ts';

export interface AccessParts {
  readonly objects: ObjectStore;
  readonly transfers: Transfers;
  readonly table: Table;
  readonly registry: TenantRegistry;
  readonly tenants: TenantDirectory;
  readonly builtin: SkillSource;
  readonly manifests: ManifestCache;
  readonly catalogs: CatalogCache;
  readonly fileLists: FileListCache;
  readonly validations: ValidationCache;
  /** What no tenant may exceed. */
  readonly policy: DeploymentPolicy;
  readonly sessionTtlSeconds: number;
  readonly receiptDays: number;
  readonly now: () => Date;
}

/** Mints what a request may touch from who asks; the only place where a tenant is chosen. */
export function accessMint(parts: AccessParts): (caller: Caller) => TenantAccess {
  return ({ principal, tenant: state }) => {
    const { tenant } = principal;
    const policy = effectivePolicy(parts.policy, state.policy);
    // Of a policy only the current version is ever asked for.
    const view = `${tenant}@${state.policy?.version ?? 0}`;
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
    const sharedSource = (bundle: BundleId): SkillSource => {
      const shared = readOnly(tenantStore(parts.objects, SHARED));
      return bucketSource({
        tenant: SHARED,
        bundle,
        objects: shared,
        transfers: tenantTransfers(parts.transfers, SHARED),
        snapshot: async () => (await parts.manifests.bundles(SHARED, shared)).get(bundle)?.snapshot,
        fileLists: parts.fileLists,
      });
    };
    const sourceOf = ({ owner, bundle }: Pick<RootDecision, 'owner' | 'bundle'>): SkillSource => {
      if (owner === 'builtin') return parts.builtin;
      return owner === 'shared' ? sharedSource(bundle as BundleId) : ownSource(bundle as BundleId);
    };
    const roots = async (): Promise<RootDecision[]> =>
      decideRoots(policy.roots, {
        own:
          policy.roots === undefined || policy.roots.some(({ owner }) => owner === 'self')
            ? [...(await bundles()).keys()]
            : [],
        granted: state.grants,
        builtin: parts.builtin.root.bundle,
      });
    const isUsed = (owner: RootOwner, bundle: string): boolean =>
      policy.roots === undefined
        ? owner === 'builtin'
        : decideRoots(policy.roots, {
            own: [],
            granted: state.grants,
            builtin: parts.builtin.root.bundle,
          }).some((root) => root.owner === owner && root.bundle === bundle && root.state === 'used');
    /** One's own bundles may be read, whether they are roots or not, unless the policy says that they are not trusted. */
    const isDistrusted = (bundle: string): boolean =>
      policy.roots?.some((root) => root.owner === 'self' && root.bundle === bundle && !root.trust) === true;

    return {
      tenant,
      principal,
      policy,
      decided: state.policy,
      grants: state.grants,
      deployment: parts.policy,
      policyPlace: policyPlace(parts.registry, tenant),
      roots,
      objects,
      transfers,
      activations: dynamoActivationStore(parts.table, tenant, nowSeconds),
      records: dynamoLoadRecords(parts.table, tenant, { receiptDays: parts.receiptDays, now: parts.now }),
      sessionTtlSeconds: parts.sessionTtlSeconds,
      now: parts.now,
      async catalog() {
        const decisions = await roots();
        const sources = decisions.filter((root) => root.state === 'used').map(sourceOf);
        return parts.catalogs.catalog(view, sources, policy, rootFindings(decisions));
      },
      async catalogOf(names) {
        const all = await bundles();
        const missing = names.find((name) => !all.has(name));
        if (missing !== undefined)
          throw new SkillError('not_found', { detail: `There is no bundle "${missing}".` });
        const distrusted = names.find(isDistrusted);
        if (distrusted !== undefined) {
          throw new SkillError('untrusted_skill_path', {
            detail: `The policy does not trust the bundle "${distrusted}".`,
            facts: { path: `bundle://${tenant}/${distrusted}` },
          });
        }
        return parts.catalogs.catalog(`${view}/${names.join('/')}`, names.map(ownSource), policy, []);
      },
      bundles,
      bundle: async (name) => (await bundles()).get(name),
      source(root) {
        const bundle = root.bundle as BundleId;
        if (root.owner === tenant) return isDistrusted(bundle) ? undefined : ownSource(bundle);
        if (root.owner === SHARED) return isUsed('shared', bundle) ? sharedSource(bundle) : undefined;
        if (root.owner !== parts.builtin.root.owner) return undefined;
        return isUsed('builtin', bundle) ? parts.builtin : undefined;
      },
      validated: (key, validate) => parts.validations.get(tenant, key, validate),
      changed() {
        parts.manifests.forget(tenant);
        parts.tenants.forget(tenant);
      },
    };
  };
}
