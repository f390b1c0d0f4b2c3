import { rateLimit, rateLimitSchema } from '../../core/rate-limit.ts';
import * as z from '../../core/zod.ts';
import { readJson } from '../body.ts';
import { pathParameter } from '../parameters.ts';
import { sendJson } from '../respond.ts';
import type { OperatorRoute } from '../route.ts';

const { per_second, burst } = rateLimitSchema.shape;
/** Without `burst`: two seconds' worth. */
const LIMIT = z.pipe(
  z.strictObject({ per_second, burst: z.exactOptional(burst) }),
  z.transform((given) => rateLimit(given.per_second, given.burst)),
);
const BODY = z.strictObject({ requests: z.exactOptional(LIMIT), loads: z.exactOptional(LIMIT) });

export const limitTenantRoute: OperatorRoute = {
  method: 'PUT',
  path: '/v1/admin/tenants/:tenant/limits',
  scope: 'admin',
  summary: 'How much a tenant may ask, in place of the deployment’s limits',
  async handle(context, access) {
    const limits = await readJson(context, BODY);
    const { limitTenant } = await import('../../operations/limit-tenant.ts');
    return sendJson(context, await limitTenant(access, pathParameter(context, 'tenant'), limits));
  },
};
