import { SkillError } from '../../core/errors.ts';
import type { ApiKey } from '../../tenancy/credential-store.ts';
import { SCOPES } from '../../tenancy/credential-store.ts';
import { readJson } from '../body.ts';
import { pathParameter } from '../parameters.ts';
import { sendJson } from '../respond.ts';
import type { OperatorRoute } from '../route.ts';
import * as z from '../../core/zod.ts';

const ISSUE_BODY = z.strictObject({
  scopes: z.array(z.enum(SCOPES)).check(z.minLength(1)),
  label: z.exactOptional(z.string().check(z.minLength(1), z.maxLength(256))),
  /** ISO 8601. */
  expires_at: z.exactOptional(z.iso.datetime({ offset: true })),
});

export const issueKeyRoute: OperatorRoute = {
  method: 'POST',
  path: '/v1/admin/tenants/:tenant/keys',
  scope: 'admin',
  summary: 'Issues a key, which is shown this once',
  async handle(context, access) {
    const { scopes, label, expires_at } = await readJson(context, ISSUE_BODY);
    const { issueKey } = await import('../../operations/issue-key.ts');
    const { key, record } = await issueKey(access, {
      tenant: pathParameter(context, 'tenant'),
      scopes: SCOPES.filter((scope) => scopes.includes(scope)),
      ...(label === undefined ? {} : { label }),
      ...(expires_at === undefined ? {} : { expiresAt: Math.floor(Date.parse(expires_at) / 1000) }),
    });
    return sendJson(context, { ...keyBody(record), key }, 201);
  },
};

export const listKeysRoute: OperatorRoute = {
  method: 'GET',
  path: '/v1/admin/tenants/:tenant/keys',
  scope: 'admin',
  summary: 'The keys of a tenant, never their secrets',
  async handle(context, access) {
    const { existingTenant } = await import('../../operations/existing-tenant.ts');
    const tenant = await existingTenant(access.credentials, pathParameter(context, 'tenant'), access.now);
    return sendJson(context, { keys: (await access.credentials.keysOf(tenant.id)).map(keyBody) });
  },
};

export const revokeKeyRoute: OperatorRoute = {
  method: 'DELETE',
  path: '/v1/admin/tenants/:tenant/keys/:key',
  scope: 'admin',
  summary: 'Revokes a key, within the freshness window; safe to repeat',
  async handle(context, access) {
    const { existingTenant } = await import('../../operations/existing-tenant.ts');
    const tenant = await existingTenant(access.credentials, pathParameter(context, 'tenant'), access.now);
    const id = pathParameter(context, 'key');
    const now = Math.floor(access.now().getTime() / 1000);
    const key = /^[a-z0-9]{12}$/.test(id)
      ? await access.credentials.revokeKey(tenant.id, id, now)
      : undefined;
    if (key === undefined) throw new SkillError('not_found', { detail: 'The tenant has no such key.' });
    return sendJson(context, keyBody(key));
  },
};

/** A key as answered: never the secret nor its hash; times as ISO 8601. */
function keyBody(key: ApiKey): object {
  const { created_at, expires_at, revoked_at, last_used_at, ...others } = key;
  const times = { created_at, expires_at, revoked_at, last_used_at };
  const told = Object.entries(times).flatMap(([name, seconds]) =>
    seconds === undefined ? [] : [[name, new Date(seconds * 1000).toISOString()] as const],
  );
  return { ...others, ...Object.fromEntries(told) };
}
