import { etagOf, sendJsonWithEtag } from '../respond.ts';
import type { TenantRoute } from '../route.ts';

export const catalogDiagnosticsRoute: TenantRoute = {
  method: 'GET',
  path: '/v1/catalog/diagnostics',
  scope: 'catalog:read',
  summary: 'What was shadowed, left out or normalized in the catalog',
  async handle(context, access) {
    const catalog = await access.catalog();
    return sendJsonWithEtag(context, etagOf(catalog.digest), () => ({ findings: catalog.findings }));
  },
};
