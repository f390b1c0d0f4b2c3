import type { TenantRecord } from '../../tenancy/credential-store.ts';
import { pathParameter } from '../parameters.ts';
import { readJson } from '../body.ts';
import { sendJson } from '../respond.ts';
import type { OperatorRoute } from '../route.ts';
import * as z from '../../core/zod.ts';

const CREATE_BODY = z.strictObject({
  id: z.string(),
  name: z.exactOptional(z.string().check(z.minLength(1), z.maxLength(256))),
});

export const createTenantRoute: OperatorRoute = {
  method: 'POST',
  path: '/v1/admin/tenants',
  scope: 'admin',
  summary: 'Creates a tenant',
  async handle(context, access) {
    const body = await readJson(context, CREATE_BODY);
    const { createTenant } = await import('../../operations/create-tenant.ts');
    const tenant = await createTenant(access.credentials, { ...body, name: body.name, now: access.now });
    return sendJson(context, tenantBody(tenant), 201);
  },
};

export const listTenantsRoute: OperatorRoute = {
  method: 'GET',
  path: '/v1/admin/tenants',
  scope: 'admin',
  summary: 'Every tenant, by id',
  async handle(context, access) {
    const tenants: object[] = [];
    for await (const tenant of access.credentials.tenants()) tenants.push(tenantBody(tenant));
    return sendJson(context, { tenants });
  },
};

export const tenantRoute: OperatorRoute = {
  method: 'GET',
  path: '/v1/admin/tenants/:tenant',
  scope: 'admin',
  summary: 'One tenant: status, policy version, grants, limits',
  async handle(context, access) {
    const { existingTenant } = await import('../../operations/existing-tenant.ts');
    const tenant = await existingTenant(access.credentials, pathParameter(context, 'tenant'), access.now);
    const state = await access.registry.read(tenant.id);
    return sendJson(context, {
      ...tenantBody(state?.record ?? tenant),
      policy_version: state?.policy?.version ?? 0,
      grants: [...(state?.grants ?? [])].map(([bundle, grant]) => ({ bundle, ...grant })),
      ...(state?.limits === undefined ? {} : { limits: state.limits }),
    });
  },
};

export const suspendTenantRoute: OperatorRoute = {
  method: 'POST',
  path: '/v1/admin/tenants/:tenant/suspend',
  scope: 'admin',
  summary: 'Stops serving a tenant, within the freshness window; safe to repeat',
  async handle(context, access) {
    const { changeTenantStatus } = await import('../../operations/change-tenant-status.ts');
    return sendJson(
      context,
      tenantBody(await changeTenantStatus(access, pathParameter(context, 'tenant'), 'suspended')),
    );
  },
};

export const resumeTenantRoute: OperatorRoute = {
  method: 'POST',
  path: '/v1/admin/tenants/:tenant/resume',
  scope: 'admin',
  summary: 'Serves a suspended tenant again; safe to repeat',
  async handle(context, access) {
    const { changeTenantStatus } = await import('../../operations/change-tenant-status.ts');
    return sendJson(
      context,
      tenantBody(await changeTenantStatus(access, pathParameter(context, 'tenant'), 'active')),
    );
  },
};

/** A tenant as answered: times as ISO 8601. */
export function tenantBody(record: TenantRecord): object {
  const { created_at, changed_at, ...others } = record;
  return {
    ...others,
    created_at: new Date(created_at * 1000).toISOString(),
    ...(changed_at === undefined ? {} : { changed_at: new Date(changed_at * 1000).toISOString() }),
  };
}
