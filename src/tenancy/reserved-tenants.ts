import { SkillError } from '../core/errors.ts';
import type { TenantId } from '../core/ids.ts';
import { tenantId } from '../core/ids.ts';

/** Whose bundles an operator can grant to others. */
export const SHARED = 'shared' as TenantId;
/** Whose keys administrate the deployment; it has no skills. */
export const OPERATOR = 'operator' as TenantId;

/** Ids that no customer can have: they would be mistaken for owners of ours. The first two have keys all the same. */
const RESERVED: ReadonlySet<string> = new Set([SHARED, OPERATOR, 'builtin']);

export const isOurs = (tenant: TenantId): boolean => tenant === SHARED || tenant === OPERATOR;

/** @throws SkillError invalid_request */
export function newTenantId(value: string): TenantId {
  if (RESERVED.has(value)) {
    throw new SkillError('invalid_request', { detail: `The tenant id "${value}" is reserved.` });
  }
  return tenantId(value);
}
