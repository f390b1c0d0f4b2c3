import { showSkill } from '../../operations/list-catalog.ts';
import { pathParameter } from '../parameters.ts';
import { etagOf, sendJsonWithEtag } from '../respond.ts';
import type { TenantRoute } from '../route.ts';

export const skillRoute: TenantRoute = {
  method: 'GET',
  path: '/v1/skills/:name',
  scope: 'catalog:read',
  summary: 'One skill: owner bundle, revision, digest, size and findings',
  async handle(context, access) {
    const name = pathParameter(context, 'name');
    const catalog = await access.catalog();
    const skill = showSkill(catalog, name);
    return sendJsonWithEtag(context, etagOf(catalog.digest), () => skill);
  },
};
