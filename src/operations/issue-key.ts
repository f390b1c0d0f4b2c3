import { SkillError } from '../core/errors.ts';
import type { OperatorAccess } from '../tenancy/operator-access.ts';
import { issueKey as newKey } from '../tenancy/api-keys.ts';
import type { ApiKey, Scope } from '../tenancy/credential-store.ts';
import { OPERATOR } from '../tenancy/reserved-tenants.ts';
import { existingTenant } from './existing-tenant.ts';

export interface IssueKeyInput {
  readonly tenant: string;
  readonly scopes: readonly Scope[];
  readonly label?: string;
  /** Epoch seconds. */
  readonly expiresAt?: number;
}

/**
 * Issues a key, which is shown this once: only a hash of its secret is stored. Administration is the operator's own
 * tenant's alone, and that tenant's keys have nothing else.
 *
 * @throws SkillError not_found, invalid_request
 */
export async function issueKey(
  access: Pick<OperatorAccess, 'credentials' | 'now'>,
  input: IssueKeyInput,
): Promise<{ readonly key: string; readonly record: ApiKey }> {
  const { id: tenant, status } = await existingTenant(access.credentials, input.tenant, access.now);
  if (status === 'deleting' || status === 'deleted') {
    throw new SkillError('invalid_request', {
      detail: `The tenant "${tenant}" is ${status}.`,
      kind: 'conflict',
    });
  }
  if (input.scopes.some((scope) => (scope === 'admin') !== (tenant === OPERATOR))) {
    throw new SkillError('invalid_request', {
      detail: `scopes: "admin" is for keys of the tenant "${OPERATOR}", which have no other scope.`,
      facts: { parameter: 'scopes' },
    });
  }
  const created_at = Math.floor(access.now().getTime() / 1000);
  if (input.expiresAt !== undefined && input.expiresAt <= created_at) {
    throw new SkillError('invalid_request', {
      detail: 'expires_at: in the past.',
      facts: { parameter: 'expires_at' },
    });
  }
  const { id, key, secretHash } = newKey();
  const record: ApiKey = {
    id,
    tenant,
    scopes: [...input.scopes],
    ...(input.label === undefined ? {} : { label: input.label }),
    created_at,
    ...(input.expiresAt === undefined ? {} : { expires_at: input.expiresAt }),
  };
  await access.credentials.saveKey(secretHash, record);
  return { key, record };
}
