import { SkillError } from '../../core/errors.ts';
import { newTenantId } from '../../tenancy/reserved-tenants.ts';
import type { Command } from '../io.ts';
import { UsageError } from '../io.ts';
import { operatorCredentials } from '../operator-table.ts';
import { onlyOne, readOptions } from '../options.ts';
import { styled } from '../print.ts';

export const tenantsCommand: Command = {
  name: 'tenants',
  summary: 'Create a tenant of a deployment on AWS',
  help: `Usage: skillbucket tenants create ID [--name NAME] [--outputs FILE] [--json]

Creates a tenant. For operators: it writes to the deployment's table with the
AWS credentials of the environment. The local deployment has its tenants.

  --name NAME      what people call it (default: the id)
  --outputs FILE   what \`cdk deploy --outputs-file FILE\` wrote (or SKILLBUCKET_TABLE)
  --json           for a program

Exit code: 0 created, 1 refused (it exists already), 2 could not run.

Example: skillbucket tenants create acme --outputs outputs.json`,

  async run(args, io) {
    const { values, positionals } = readOptions(args, {
      name: { type: 'string' },
      outputs: { type: 'string' },
      json: { type: 'boolean' },
    });
    const [verb, ...rest] = positionals;
    if (verb !== 'create') throw new UsageError('The one thing to do here is `create`.');
    const id = newTenantId(onlyOne(rest, 'ID'));
    const credentials = await operatorCredentials(io, values.outputs);
    if ((await credentials.findTenant(id)) !== undefined) {
      throw new SkillError('invalid_request', {
        detail: `There is a tenant "${id}" already.`,
        kind: 'conflict',
      });
    }
    const name = values.name ?? id;
    await credentials.createTenant({ id, name, status: 'active', created_at: Math.floor(Date.now() / 1000) });
    io.out(
      values.json === true
        ? `${JSON.stringify({ tenant: id, name }, null, 2)}\n`
        : `${styled(io, 'green', 'Created')} tenant ${id}. Next: skillbucket keys create --tenant ${id}\n`,
    );
    return 0;
  },
};
