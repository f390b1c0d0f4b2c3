import { SkillError } from '../core/errors.ts';
import type { BundleId } from '../core/ids.ts';
import type { Grant } from '../tenancy/tenant-registry.ts';
import type { OperatorAccess } from '../tenancy/operator-access.ts';
import { isOurs } from '../tenancy/reserved-tenants.ts';
import { existingTenant } from './existing-tenant.ts';

/**
 * Lets a tenant read a shared bundle, by reference: what is published there reaches it within the freshness window. It
 * is in the tenant's catalog when the tenant's policy trusts it as a root. Granting again keeps who granted first.
 *
 * @throws SkillError not_found for a tenant or a shared bundle that is not there
 */
export async function grantBundle(access: OperatorAccess, id: string, bundle: BundleId): Promise<Grant> {
  const tenant = await existingTenant(access.credentials, id, access.now);
  if (isOurs(tenant.id))
    throw new SkillError('invalid_request', { detail: 'Bundles are shared with customers.' });
  if (!(await access.shared()).has(bundle)) {
    throw new SkillError('not_found', { detail: `There is no shared bundle "${bundle}".` });
  }
  const grant = { granted_by: access.principal.id, granted_at: access.now().toISOString() };
  await access.registry.grant(tenant.id, bundle, grant);
  access.changed(tenant.id);
  const state = await access.registry.read(tenant.id);
  return state?.grants.get(bundle) ?? grant;
}

/** Ends a grant: the bundle is absent from the tenant within the freshness window. Safe to repeat. */
export async function withdrawBundle(access: OperatorAccess, id: string, bundle: BundleId): Promise<void> {
  const tenant = await existingTenant(access.credentials, id, access.now);
  await access.registry.withdraw(tenant.id, bundle);
  access.changed(tenant.id);
}
