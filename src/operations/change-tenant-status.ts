import { SkillError } from '../core/errors.ts';
import type { TenantRecord } from '../tenancy/credential-store.ts';
import type { OperatorAccess } from '../tenancy/operator-access.ts';
import { isOurs } from '../tenancy/reserved-tenants.ts';
import { existingTenant } from './existing-tenant.ts';

/** From which status a tenant can come to another. */
const FROM = {
  active: ['suspended'],
  suspended: ['active'],
  deleting: ['active', 'suspended'],
} as const satisfies Partial<Record<TenantRecord['status'], readonly TenantRecord['status'][]>>;

/**
 * Suspends a tenant, lets it go on, or begins to delete it. Warm processes follow within the freshness window. Safe to
 * repeat.
 *
 * @throws SkillError not_found, invalid_request (409) when the tenant's status does not allow it
 */
export async function changeTenantStatus(
  access: OperatorAccess,
  id: string,
  status: keyof typeof FROM,
): Promise<TenantRecord> {
  const before = await existingTenant(access.credentials, id, access.now);
  if (isOurs(before.id) && status !== 'active') {
    throw new SkillError('invalid_request', { detail: `The tenant "${id}" is the deployment's own.` });
  }
  if (before.status === status) return before;
  const from = FROM[status].find((one) => one === before.status);
  const changed_at = Math.floor(access.now().getTime() / 1000);
  const record: TenantRecord = { ...before, status, changed_at };
  if (from === undefined || !(await access.credentials.changeTenant(record, from))) {
    throw new SkillError('invalid_request', {
      detail: `The tenant "${id}" is ${before.status}; it cannot become ${status}.`,
      kind: 'conflict',
    });
  }
  access.changed(record.id);
  return record;
}
