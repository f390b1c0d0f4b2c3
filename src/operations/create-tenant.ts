import { SkillError } from '../core/errors.ts';
import type { CredentialStore, TenantRecord } from '../tenancy/credential-store.ts';
import { newTenantId } from '../tenancy/reserved-tenants.ts';

/**
 * Creates a tenant. The id of a deleted one is not given again: what somebody still keeps of it must not meet another.
 *
 * @throws SkillError invalid_request (409 when there is, or was, such a tenant)
 */
export async function createTenant(
  credentials: Pick<CredentialStore, 'createTenant'>,
  input: { readonly id: string; readonly name: string | undefined; readonly now: () => Date },
): Promise<TenantRecord> {
  const id = newTenantId(input.id);
  const created_at = Math.floor(input.now().getTime() / 1000);
  const record: TenantRecord = { id, name: input.name ?? id, status: 'active', created_at };
  if (await credentials.createTenant(record)) return record;
  throw new SkillError('invalid_request', {
    detail: `There is already, or was, a tenant "${id}".`,
    kind: 'conflict',
  });
}
