import type { Scope } from '../../tenancy/credential-store.ts';
import { SCOPES } from '../../tenancy/credential-store.ts';
import { OPERATOR } from '../../tenancy/reserved-tenants.ts';
import { ADMINISTRATION_HELP, ADMINISTRATION_OPTIONS, administration } from '../administration.ts';
import { jsonText, plain } from '../plain.ts';
import type { Command } from '../io.ts';
import { UsageError } from '../io.ts';
import { readOptions } from '../options.ts';
import * as z from '../../core/zod.ts';

/** What an agent needs; publishing is for people and pipelines. */
const DEFAULT_SCOPES: readonly Scope[] = ['catalog:read', 'skills:load'];
const DAY_MILLISECONDS = 24 * 60 * 60 * 1000;

const keySchema = z.looseObject({
  id: z.string(),
  scopes: z.array(z.string()),
  label: z.optional(z.string()),
  created_at: z.string(),
  expires_at: z.optional(z.string()),
  revoked_at: z.optional(z.string()),
  last_used_at: z.optional(z.string()),
});
type Key = z.infer<typeof keySchema>;

export const keysCommand: Command = {
  name: 'keys',
  summary: 'Issue, list and revoke the API keys of a tenant',
  help: `Usage: skillbucket keys create --tenant ID [--scopes LIST] [--days N] [--label TEXT]
       skillbucket keys list --tenant ID
       skillbucket keys revoke KEY_ID --tenant ID

For operators of a deployment. A key is printed this once: only a hash of it is
stored. Revoking holds within the freshness window (5 s).

  --tenant ID      whose keys; \`${OPERATOR}\` for keys that administrate, \`shared\` for
                   keys that publish what can be shared
  --scopes LIST    with commas between, of ${SCOPES.slice(0, 3).join(', ')},
                   ${SCOPES.slice(3).join(', ')} (default: ${DEFAULT_SCOPES.join(',')}; for
                   \`${OPERATOR}\` admin)
  --days N         it expires after so many days (default: it does not)
  --label TEXT     what it is for
${ADMINISTRATION_HELP}

Exit code: 0 done, 1 refused (no such tenant or key), 2 could not run.

Example: skillbucket keys create --tenant acme --scopes bundles:write,catalog:read`,

  async run(args, io) {
    const { values, positionals } = readOptions(args, {
      ...ADMINISTRATION_OPTIONS,
      tenant: { type: 'string' },
      scopes: { type: 'string' },
      days: { type: 'string' },
      label: { type: 'string' },
    });
    const [verb, ...words] = positionals;
    if (verb !== 'create' && verb !== 'list' && verb !== 'revoke') {
      throw new UsageError('Say what to do: create, list or revoke.');
    }
    const { tenant } = values;
    if (tenant === undefined) throw new UsageError('--tenant ID is missing.');
    const [id] = words;
    if (words.length !== (verb === 'revoke' ? 1 : 0)) {
      throw new UsageError(verb === 'revoke' ? 'Say which key: its id.' : `\`${verb}\` takes options only.`);
    }
    const place = `/v1/admin/tenants/${encodeURIComponent(tenant)}/keys`;
    const body =
      verb === 'create'
        ? { scopes: scopesOf(values.scopes, tenant), ...labelOf(values.label), ...expiryOf(values.days) }
        : {};
    const service = await administration(io, values);
    const print = (json: unknown, text: string) => {
      io.out(values.json === true ? jsonText(json) : text);
    };
    if (verb === 'list') {
      const answer = await service.request('GET', place, z.object({ keys: z.array(keySchema) }));
      print(answer, answer.keys.map(row).join(''));
    } else if (verb === 'revoke') {
      const key = await service.request('DELETE', `${place}/${encodeURIComponent(id ?? '')}`, keySchema);
      print(key, `Revoked key ${plain(key.id)} of ${tenant}\n`);
    } else {
      const issued = await service.request('POST', place, z.extend(keySchema, { key: z.string() }), body);
      print(issued, `${plain(issued.key)}\n`);
      if (values.json !== true) {
        io.err(
          `Key ${plain(issued.id)} of ${tenant} with ${plain(issued.scopes.join(', '))}. It is not shown again.\n`,
        );
      }
    }
    return 0;
  },
};

const row = (key: Key): string => {
  const state =
    key.revoked_at === undefined ? `expires ${key.expires_at?.slice(0, 10) ?? 'never'}` : 'revoked';
  const used = `last used ${key.last_used_at?.slice(0, 16) ?? 'never'}`;
  return `${plain(
    `${key.id}  ${state.padEnd(18)} ${used.padEnd(26)} ${key.scopes.join(',')}  ${key.label ?? ''}`.trimEnd(),
  )}\n`;
};

function scopesOf(given: string | undefined, tenant: string): readonly Scope[] {
  if (given === undefined) return tenant === OPERATOR ? ['admin'] : DEFAULT_SCOPES;
  const names = given.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !SCOPES.includes(name as Scope));
  if (unknown !== undefined) {
    throw new UsageError(`There is no scope ${JSON.stringify(unknown)}; there are ${SCOPES.join(', ')}.`);
  }
  return SCOPES.filter((scope) => names.includes(scope));
}

const labelOf = (label: string | undefined): object => (label === undefined ? {} : { label });

function expiryOf(days: string | undefined): object {
  if (days === undefined) return {};
  if (!/^[1-9]\d{0,3}$/.test(days)) throw new UsageError('--days takes a whole number from 1 to 9999.');
  return { expires_at: new Date(Date.now() + Number(days) * DAY_MILLISECONDS).toISOString() };
}
