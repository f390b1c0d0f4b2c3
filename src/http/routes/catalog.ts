import { MAX_PAGE_SIZE, DEFAULT_PAGE_SIZE } from '../../core/limits.ts';
import { listCatalog } from '../../operations/list-catalog.ts';
import { choice, integer, list, readQuery, text } from '../query.ts';
import { etagOf, sendRendered } from '../respond.ts';
import type { TenantRoute } from '../route.ts';
import * as z from '../../core/zod.ts';

const QUERY = z.object({
  tags: list,
  tag_match: choice(['any', 'all'], 'any'),
  q: text,
  limit: z._default(integer(1, MAX_PAGE_SIZE), DEFAULT_PAGE_SIZE),
  cursor: text,
});

export const catalogRoute: TenantRoute = {
  method: 'GET',
  path: '/v1/catalog',
  scope: 'catalog:read',
  summary: 'Skills of the tenant: descriptors in name order, or ranked with `q`',
  async handle(context, access, { rendered }) {
    const { tags, tag_match, q, limit, cursor } = readQuery(context, QUERY);
    const catalog = await access.catalog();
    return sendRendered(context, etagOf(catalog.digest), () =>
      rendered.get(
        [access.tenant, catalog.digest, 'catalog', JSON.stringify([tags, tag_match, q, limit, cursor])],
        () => ({
          body: JSON.stringify(
            listCatalog(catalog, { tags, match: tag_match, q, limit, cursor }, access.tenant),
          ),
          headers: { 'content-type': 'application/json' },
        }),
      ),
    );
  },
};
