import { bundleParameter, pathParameter } from '../parameters.ts';
import { sendJson, sendNothing } from '../respond.ts';
import type { OperatorRoute } from '../route.ts';

export const grantBundleRoute: OperatorRoute = {
  method: 'PUT',
  path: '/v1/admin/tenants/:tenant/grants/:bundle',
  scope: 'admin',
  summary: 'Lets a tenant read a bundle of the tenant `shared`; safe to repeat',
  async handle(context, access) {
    const bundle = bundleParameter(context);
    const { grantBundle } = await import('../../operations/grant-bundle.ts');
    const grant = await grantBundle(access, pathParameter(context, 'tenant'), bundle);
    return sendJson(context, { bundle, ...grant });
  },
};

export const withdrawBundleRoute: OperatorRoute = {
  method: 'DELETE',
  path: '/v1/admin/tenants/:tenant/grants/:bundle',
  scope: 'admin',
  summary: 'Withdraws a shared bundle from a tenant, within the freshness window; safe to repeat',
  async handle(context, access) {
    const bundle = bundleParameter(context);
    const { withdrawBundle } = await import('../../operations/grant-bundle.ts');
    await withdrawBundle(access, pathParameter(context, 'tenant'), bundle);
    return sendNothing(context);
  },
};
