import path from 'node:path';
import { composeOperator } from '../compose-operator.ts';
import { readConfig } from '../config.ts';
import { localPaths } from '../local/embedded.ts';
import { readLocalFile } from '../local/seed.ts';
import type { Io } from './io.ts';
import { UsageError } from './io.ts';
import { readOutputs } from './outputs.ts';
import type { Patience } from './patience.ts';
import { patienceOf } from './print.ts';
import type { ServiceClient } from './service-client.ts';
import { serviceClient } from './service-client.ts';

/** Options of every command that administrates. */
export const ADMINISTRATION_OPTIONS = {
  url: { type: 'string' },
  key: { type: 'string' },
  outputs: { type: 'string' },
  json: { type: 'boolean' },
} as const;

export const ADMINISTRATION_HELP = `  --url URL        the service (or SKILLBUCKET_URL), with
  --key KEY        an operator's key (or SKILLBUCKET_KEY, which keeps it out of process lists)
  --outputs FILE   without a key, with AWS credentials: what \`cdk deploy --outputs-file FILE\`
                   wrote (or SKILLBUCKET_TABLE)
  --json           for a program

Without any of these: the local deployment that \`skillbucket serve\` runs.`;

/**
 * The administration of a deployment: through its service with an operator's key, or straight to its table with AWS
 * credentials, by the same routes in this process.
 */
export async function administration(
  io: Io,
  options: { readonly url?: string; readonly key?: string; readonly outputs?: string },
): Promise<ServiceClient> {
  const config = readConfig(io.env);
  const patience = patienceOf(config, io);
  if (options.url !== undefined && options.outputs !== undefined) {
    throw new UsageError('Give --url or --outputs, not both.');
  }
  if (options.outputs !== undefined) {
    const { TableName, BucketName, Region } = await readOutputs(options.outputs);
    return inProcess(
      composeOperator(config, { table: TableName, bucket: BucketName, region: Region }),
      patience,
    );
  }
  const url = options.url ?? config.url;
  if (url !== undefined) {
    const key = options.key ?? config.key;
    if (key === undefined)
      throw new UsageError("--key KEY or SKILLBUCKET_KEY is missing: an operator's key.");
    return serviceClient({ url, key, patience });
  }
  const { table, bucket } = config;
  if (table !== undefined) {
    return inProcess(
      composeOperator(config, { table, ...(bucket === undefined ? {} : { bucket }) }),
      patience,
    );
  }
  const local = await readLocalFile(localPaths(path.resolve(config.dataDir)).localFile);
  if (local?.operator === undefined) {
    throw new UsageError(
      'Say which deployment: --url URL with a key, or --outputs FILE (of `cdk deploy --outputs-file`), or SKILLBUCKET_TABLE; or run `skillbucket serve` here.',
    );
  }
  return serviceClient({ url: local.url, key: local.operator.api_key, patience });
}

function inProcess(app: ReturnType<typeof composeOperator>, patience: Patience): ServiceClient {
  return serviceClient({
    url: 'http://operator',
    key: 'none',
    patience,
    fetch: (url, init) => app.request(url, init),
  });
}
