import { effectivePolicy } from '../../core/policy/tenant-policy.ts';
import type { StoredPolicy } from '../../core/policy/tenant-policy.ts';
import type { OperatorAccess } from '../../tenancy/operator-access.ts';
import { policyPlace } from '../../tenancy/tenant-registry.ts';
import { readJson } from '../body.ts';
import { pathParameter } from '../parameters.ts';
import { sendJson, sendJsonWithEtag } from '../respond.ts';
import type { AppContext, OperatorRoute } from '../route.ts';
import { POLICY_BODY, policyBody, policyEtag, policyPrecondition } from './policy.ts';

export const tenantPolicyRoute: OperatorRoute = {
  method: 'GET',
  path: '/v1/admin/tenants/:tenant/policy',
  scope: 'admin',
  summary: 'The policy of a tenant, as decided',
  async handle(context, access) {
    const tenant = await tenantOf(context, access);
    const decided = (await access.registry.read(tenant.id))?.policy;
    return sendJsonWithEtag(context, policyEtag(decided, []), () => bodyOf(access, decided));
  },
};

export const changeTenantPolicyRoute: OperatorRoute = {
  method: 'PUT',
  path: '/v1/admin/tenants/:tenant/policy',
  scope: 'admin',
  summary: 'Replaces the policy of a tenant',
  async handle(context, access) {
    const tenant = await tenantOf(context, access);
    const policy = await readJson(context, POLICY_BODY);
    const precondition = policyPrecondition(context);
    const { changePolicy } = await import('../../operations/change-policy.ts');
    const decided = await changePolicy(policyPlace(access.registry, tenant.id), access.deployment, {
      policy,
      ...(precondition === undefined ? {} : { precondition }),
      decidedBy: access.principal.id,
      now: access.now,
    });
    access.changed(tenant.id);
    return sendJson(context, bodyOf(access, decided));
  },
};

async function tenantOf(context: AppContext, access: OperatorAccess) {
  const { existingTenant } = await import('../../operations/existing-tenant.ts');
  return existingTenant(access.credentials, pathParameter(context, 'tenant'), access.now);
}

function bodyOf({ deployment }: OperatorAccess, decided: StoredPolicy | undefined): object {
  return policyBody({ policy: effectivePolicy(deployment, decided), decided, deployment, roots: undefined });
}
