import { readFile } from 'node:fs/promises';
import { isSystemError } from '../../sources/file-system.ts';
import { ADMINISTRATION_HELP, ADMINISTRATION_OPTIONS, administration } from '../administration.ts';
import { jsonText, plain } from '../plain.ts';
import type { Command, Io } from '../io.ts';
import { UsageError } from '../io.ts';
import { readOptions } from '../options.ts';
import { styled } from '../print.ts';
import type { ServiceClient } from '../service-client.ts';
import * as z from '../../core/zod.ts';

const tenantSchema = z.looseObject({
  id: z.string(),
  name: z.string(),
  status: z.string(),
  created_at: z.string(),
});
const limitedSchema = z.looseObject({ limits: z.exactOptional(z.unknown()) });
type Tenant = z.infer<typeof tenantSchema>;

/** What each verb takes, and does. */
interface Verb {
  readonly words: readonly string[];
  run(service: ServiceClient, words: readonly string[], given: Given): Promise<Told>;
}
interface Given {
  readonly name: string | undefined;
  readonly set: string | undefined;
}
/** For a program, and for a person. */
interface Told {
  readonly json: unknown;
  readonly text: (io: Io) => string;
}

const path = (...parts: readonly string[]): string =>
  ['/v1/admin/tenants', ...parts.map(encodeURIComponent)].join('/');

const changed =
  (verb: 'suspend' | 'resume', done: string) =>
  async (service: ServiceClient, [id = '']: readonly string[]): Promise<Told> => {
    const tenant = await service.request('POST', path(id, verb), tenantSchema, {});
    return {
      json: tenant,
      text: (io) =>
        `${styled(io, 'green', done)} tenant ${plain(tenant.id)}: it is ${plain(tenant.status)}\n`,
    };
  };

const VERBS: Readonly<Record<string, Verb>> = {
  create: {
    words: ['ID'],
    async run(service, [id = ''], { name }) {
      const body = { id, ...(name === undefined ? {} : { name }) };
      const tenant = await service.request('POST', '/v1/admin/tenants', tenantSchema, body);
      return {
        json: tenant,
        text: (io) =>
          `${styled(io, 'green', 'Created')} tenant ${id}. Next, with the same options:\n` +
          `  skillbucket keys create --tenant ${id}                                    for its agents\n` +
          `  skillbucket keys create --tenant ${id} --scopes catalog:read,bundles:write  to publish\n`,
      };
    },
  },
  list: {
    words: [],
    async run(service) {
      const answer = await service.request(
        'GET',
        '/v1/admin/tenants',
        z.object({ tenants: z.array(tenantSchema) }),
      );
      return { json: answer, text: () => answer.tenants.map(row).join('') };
    },
  },
  show: {
    words: ['ID'],
    async run(service, [id = '']) {
      const tenant = await service.request('GET', path(id), tenantSchema);
      return { json: tenant, text: () => jsonText(tenant) };
    },
  },
  suspend: { words: ['ID'], run: changed('suspend', 'Suspended') },
  resume: { words: ['ID'], run: changed('resume', 'Resumed') },
  policy: {
    words: ['ID'],
    async run(service, [id = ''], { set }) {
      const place = path(id, 'policy');
      const policy =
        set === undefined
          ? await service.request('GET', place, z.unknown())
          : await service.request('PUT', place, z.unknown(), await readJsonFile(set));
      return { json: policy, text: () => jsonText(policy) };
    },
  },
  limits: {
    words: ['ID'],
    async run(service, [id = ''], { set }) {
      const limits =
        set === undefined
          ? ((await service.request('GET', path(id), limitedSchema)).limits ?? { limits: {} })
          : await service.request('PUT', path(id, 'limits'), z.unknown(), await readJsonFile(set));
      return { json: limits, text: () => jsonText(limits) };
    },
  },
  grant: {
    words: ['ID', 'BUNDLE'],
    async run(service, [id = '', bundle = '']) {
      const grant = await service.request('PUT', path(id, 'grants', bundle), z.unknown());
      return {
        json: grant,
        text: (io) =>
          `${styled(io, 'green', 'Granted')} shared/${bundle} to ${id}; its policy decides whether it is a root\n`,
      };
    },
  },
  withdraw: {
    words: ['ID', 'BUNDLE'],
    async run(service, [id = '', bundle = '']) {
      await service.request('DELETE', path(id, 'grants', bundle), z.unknown());
      return { json: { withdrawn: bundle }, text: () => `Withdrawn: shared/${bundle} from ${id}\n` };
    },
  },
};

export const tenantsCommand: Command = {
  name: 'tenants',
  summary: 'Administrate tenants: create, suspend, policy, limits, shared bundles',
  help: `Usage: skillbucket tenants create ID [--name NAME]
       skillbucket tenants list
       skillbucket tenants show | suspend | resume ID
       skillbucket tenants policy ID [--set FILE]
       skillbucket tenants limits ID [--set FILE]
       skillbucket tenants grant | withdraw ID BUNDLE

For operators of a deployment. Changes hold within the freshness window (5 s).

  --name NAME      what people call the tenant (default: the id)
  --set FILE       a policy as JSON, in place of the present one; or limits of
                   its own, as {"requests":{"per_second":5,"burst":20},"loads":{…}}
${ADMINISTRATION_HELP}

A bundle can be granted that a key of the tenant \`shared\` has published
(skillbucket keys create --tenant shared --scopes bundles:write,catalog:read).

Exit code: 0 done, 1 refused, 2 could not run.

Example: skillbucket tenants create acme --outputs outputs.json`,

  async run(args, io) {
    const { values, positionals } = readOptions(args, {
      ...ADMINISTRATION_OPTIONS,
      name: { type: 'string' },
      set: { type: 'string' },
    });
    const [name = '', ...words] = positionals;
    const verb = Object.hasOwn(VERBS, name) ? VERBS[name] : undefined;
    if (verb === undefined) throw new UsageError(`Say what to do: ${Object.keys(VERBS).join(', ')}.`);
    const missing = verb.words[words.length];
    if (missing !== undefined) throw new UsageError(`${missing} is missing.`);
    if (words.length > verb.words.length)
      throw new UsageError(`\`${name}\` takes ${verb.words.join(' and ') || 'nothing more'}.`);
    const given = { name: values.name, set: values.set };
    const told = await verb.run(await administration(io, values), words, given);
    io.out(values.json === true ? jsonText(told.json) : told.text(io));
    return 0;
  },
};

const row = ({ id, status, name, created_at }: Tenant): string =>
  `${plain(`${id.padEnd(24)} ${status.padEnd(10)} ${created_at.slice(0, 10)}  ${name}`)}\n`;

async function readJsonFile(file: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    if (error instanceof SyntaxError) throw new UsageError(`${file} is not JSON.`);
    if (isSystemError(error)) throw new UsageError(`${file} cannot be read (${error.code}).`);
    throw error;
  }
}
