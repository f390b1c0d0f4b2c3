import { SkillError } from '../core/errors.ts';
import type { TenantId } from '../core/ids.ts';
import { isTenantId } from '../core/ids.ts';
import type { CredentialStore, TenantRecord } from '../tenancy/credential-store.ts';
import { isOurs } from '../tenancy/reserved-tenants.ts';

/**
 * The tenant of that id. Our own two need no creating: they are made when they are first asked for.
 *
 * @throws SkillError not_found
 */
export async function existingTenant(
  credentials: Pick<CredentialStore, 'findTenant' | 'createTenant'>,
  id: string,
  now: () => Date,
): Promise<TenantRecord> {
  const found = isTenantId(id) ? await credentials.findTenant(id) : undefined;
  if (found !== undefined) return found;
  if (isTenantId(id) && isOurs(id)) {
    const created_at = Math.floor(now().getTime() / 1000);
    const record: TenantRecord = { id, name: id, status: 'active', created_at };
    await credentials.createTenant(record);
    return record;
  }
  throw noTenant(id);
}

export function noTenant(id: TenantId | string): SkillError {
  return new SkillError('not_found', {
    detail: `There is no tenant ${JSON.stringify(id.slice(0, 80))}.`,
  });
}
