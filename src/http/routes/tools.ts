import { describeTools } from '../../operations/describe-tools.ts';
import { flag, readQuery } from '../query.ts';
import { etagOf, sendJsonWithEtag } from '../respond.ts';
import type { TenantRoute } from '../route.ts';
import * as z from '../../core/zod.ts';

const QUERY = z.object({ enum: flag });

export const toolsRoute: TenantRoute = {
  method: 'GET',
  path: '/v1/tools',
  scope: 'catalog:read',
  summary: 'The two tools as function definitions; `enum=true` limits names to the catalog',
  async handle(context, access) {
    const query = readQuery(context, QUERY);
    const catalog = query.enum ? await access.catalog() : undefined;
    return sendJsonWithEtag(
      context,
      etagOf('tools', ...(catalog === undefined ? [] : [catalog.digest])),
      () => ({
        tools: describeTools(catalog),
      }),
    );
  },
};
