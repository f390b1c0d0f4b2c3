import type { Catalog, RootRef } from '../core/catalog/catalog.ts';
import type { ParsedSkill } from '../core/format/skill-document.ts';
import type { BundleId, TenantId } from '../core/ids.ts';
import type { RootDecision } from '../core/policy/roots.ts';
import type { DeploymentPolicy, StoredPolicy, TenantPolicy } from '../core/policy/tenant-policy.ts';
import type { LoadRecords } from '../records/load-records.ts';
import type { ActivationStore } from '../sessions/activation-store.ts';
import type { CurrentBundle, TenantBundles } from '../sources/manifest-cache.ts';
import type { SkillSource } from '../sources/source.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import type { Transfers } from '../storage/transfers.ts';
import type { Principal } from './authenticate.ts';
import type { Grant, PolicyPlace } from './tenant-registry.ts';

/**
 * What a request may touch, minted for its tenant (D7): every part of it is bound to that tenant, so no operation takes
 * a tenant and none can name another's data. Made per request and kept by nobody.
 */
export interface TenantAccess {
  readonly tenant: TenantId;
  readonly principal: Principal;
  readonly policy: TenantPolicy;
  /** The policy as the tenant decided it; undefined while it has decided nothing. */
  readonly decided: StoredPolicy | undefined;
  readonly grants: ReadonlyMap<BundleId, Grant>;
  /** What no tenant may exceed. */
  readonly deployment: DeploymentPolicy;
  readonly policyPlace: PolicyPlace;
  readonly objects: ObjectStore;
  readonly transfers: Transfers;
  readonly activations: ActivationStore;
  readonly records: LoadRecords;
  readonly sessionTtlSeconds: number;
  readonly now: () => Date;
  /** The tenant's roots in their order, with what becomes of each. */
  roots(): Promise<RootDecision[]>;
  /** The tenant's catalog: its roots, in order, composed. The same object while nothing changed. */
  catalog(): Promise<Catalog>;
  /** A catalog of just these bundles, for a trusted load. @throws SkillError not_found, untrusted_skill_path */
  catalogOf(bundles: readonly BundleId[]): Promise<Catalog>;
  bundles(): Promise<TenantBundles>;
  bundle(name: BundleId): Promise<CurrentBundle | undefined>;
  /** The source of a root, as long as this tenant may read it. */
  source(root: RootRef): SkillSource | undefined;
  /** What validating gave, kept for as long as it is the same by all parts of the key. */
  validated(key: readonly string[], validate: () => ParsedSkill): ParsedSkill;
  /** After a write: this process serves it at once. */
  changed(): void;
}
