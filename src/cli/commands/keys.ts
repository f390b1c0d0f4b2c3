import { SkillError } from '../../core/errors.ts';
import { tenantId } from '../../core/ids.ts';
import { issueKey } from '../../tenancy/api-keys.ts';
import type { Scope } from '../../tenancy/credential-store.ts';
import { SCOPES } from '../../tenancy/credential-store.ts';
import type { Command } from '../io.ts';
import { UsageError } from '../io.ts';
import { operatorCredentials } from '../operator-table.ts';
import { readOptions } from '../options.ts';

/** What an agent needs; publishing is for people and pipelines. */
const DEFAULT_SCOPES: readonly Scope[] = ['catalog:read', 'skills:load'];
const DAY_SECONDS = 24 * 60 * 60;

export const keysCommand: Command = {
  name: 'keys',
  summary: 'Issue an API key of a tenant of a deployment on AWS',
  help: `Usage: skillbucket keys create --tenant ID [--scopes LIST] [--days N]
                              [--outputs FILE] [--json]

Issues a key and prints it, this once: only a hash of it is stored. For
operators: it writes to the deployment's table with the AWS credentials of the
environment.

  --tenant ID      whose key
  --scopes LIST    with commas between, of ${SCOPES.slice(0, 3).join(', ')},
                   ${SCOPES.slice(3).join(', ')} (default: ${DEFAULT_SCOPES.join(',')})
  --days N         it expires after so many days (default: it does not)
  --outputs FILE   what \`cdk deploy --outputs-file FILE\` wrote (or SKILLBUCKET_TABLE)
  --json           for a program

Exit code: 0 issued, 1 refused (no such tenant), 2 could not run.

Example: skillbucket keys create --tenant acme --scopes bundles:write,catalog:read`,

  async run(args, io) {
    const { values, positionals } = readOptions(args, {
      tenant: { type: 'string' },
      scopes: { type: 'string' },
      days: { type: 'string' },
      outputs: { type: 'string' },
      json: { type: 'boolean' },
    });
    if (positionals.length !== 1 || positionals[0] !== 'create') {
      throw new UsageError('The one thing to do here is `create`.');
    }
    if (values.tenant === undefined) throw new UsageError('--tenant ID is missing.');
    const tenant = tenantId(values.tenant);
    const scopes = scopesOf(values.scopes);
    const created = Math.floor(Date.now() / 1000);
    const expires = expiryOf(values.days, created);
    const credentials = await operatorCredentials(io, values.outputs);
    if ((await credentials.findTenant(tenant)) === undefined) {
      throw new SkillError('not_found', {
        detail: `There is no tenant "${tenant}". Create it first: skillbucket tenants create ${tenant}`,
      });
    }
    const { id, key, secretHash } = issueKey();
    await credentials.saveKey(secretHash, { id, tenant, scopes, created_at: created, ...expires });
    if (values.json === true) {
      io.out(`${JSON.stringify({ id, tenant, scopes, ...expires, key }, null, 2)}\n`);
    } else {
      io.out(`${key}\n`);
      io.err(`Key ${id} of ${tenant} with ${scopes.join(', ')}. It is not shown again.\n`);
    }
    return 0;
  },
};

function scopesOf(given: string | undefined): Scope[] {
  if (given === undefined) return [...DEFAULT_SCOPES];
  const names = given.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !SCOPES.includes(name as Scope));
  if (unknown !== undefined) {
    throw new UsageError(`There is no scope ${JSON.stringify(unknown)}; there are ${SCOPES.join(', ')}.`);
  }
  return SCOPES.filter((scope) => names.includes(scope));
}

function expiryOf(days: string | undefined, created: number): { expires_at?: number } {
  if (days === undefined) return {};
  if (!/^[1-9]\d{0,3}$/.test(days)) throw new UsageError('--days takes a whole number from 1 to 9999.');
  return { expires_at: created + Number(days) * DAY_SECONDS };
}
