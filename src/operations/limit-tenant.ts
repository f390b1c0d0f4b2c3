import { SkillError } from '../core/errors.ts';
import type { RateLimits } from '../core/rate-limit.ts';
import type { OperatorAccess } from '../tenancy/operator-access.ts';
import { OPERATOR } from '../tenancy/reserved-tenants.ts';
import type { DecidedLimits } from '../tenancy/tenant-registry.ts';
import { existingTenant } from './existing-tenant.ts';

/**
 * Sets how much a tenant may ask, in place of the deployment's limits; a kind that is left out is the deployment's
 * again. Warm processes follow within the freshness window.
 *
 * @throws SkillError not_found, invalid_request for the operator's own tenant, which is not limited
 */
export async function limitTenant(
  access: OperatorAccess,
  id: string,
  limits: RateLimits,
): Promise<DecidedLimits> {
  const tenant = await existingTenant(access.credentials, id, access.now);
  if (tenant.id === OPERATOR) {
    throw new SkillError('invalid_request', { detail: 'Operators are not limited.' });
  }
  const decided = { limits, decided_by: access.principal.id, decided_at: access.now().toISOString() };
  await access.registry.saveLimits(tenant.id, decided);
  access.changed(tenant.id);
  return decided;
}
