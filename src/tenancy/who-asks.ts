import { SkillError } from '../core/errors.ts';
import type { Authenticate, Principal } from './authenticate.ts';
import type { Scope } from './credential-store.ts';
import { OPERATOR } from './reserved-tenants.ts';
import type { TenantDirectory, TenantState } from './tenant-registry.ts';

/** Somebody who may ask: a good credential of an active tenant. */
export interface Caller {
  readonly principal: Principal;
  readonly tenant: TenantState;
}

/** @returns a function of the `Authorization` header that throws SkillError unauthenticated, forbidden, unavailable */
export function whoAsks(parts: {
  readonly authenticate: Authenticate;
  readonly tenants: TenantDirectory;
}): (authorization: string | undefined) => Promise<Caller> {
  return async (authorization) => {
    const { principal, noted } = await parts.authenticate(authorization);
    try {
      return { principal, tenant: await parts.tenants.active(principal.tenant) };
    } finally {
      await noted;
    }
  };
}

/**
 * The one decision whether a credential allows something. Administration takes the operator's own tenant as well as the
 * scope, and the operator has nothing else.
 *
 * @throws SkillError forbidden
 */
export function authorize(principal: Principal, scope: Scope): void {
  const isOperator = principal.tenant === OPERATOR;
  if (principal.scopes.includes(scope) && isOperator === (scope === 'admin')) return;
  throw new SkillError('forbidden', { detail: `This credential lacks the scope ${scope}.` });
}
