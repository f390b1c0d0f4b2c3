import { composeAws } from '../../compose.ts';
import { HOLD_REFUSED_MS } from '../../core/limits.ts';
import type { Config } from '../../config.ts';
import { readConfig } from '../../config.ts';
import { startEmbedded } from '../../local/embedded.ts';
import type { Command, Io } from '../io.ts';
import { UsageError } from '../io.ts';
import { readOptions } from '../options.ts';
import { serveSamples } from '../serve-samples.ts';
import { loggerFor, serveUntilStopped } from '../serving.ts';

export const serveCommand: Command = {
  name: 'serve',
  summary: 'Run the service, by default embedded with two sample tenants',
  help: `Usage: skillbucket serve [--port N] [--data-dir DIR]

Runs the service. Without further settings everything is embedded: a directory
as the bucket, DynamoDB in this process, two sample tenants with keys. State is
kept and found again at the next start. Ctrl-C stops.

  --port N         where to listen (default: PORT, or 8787; 0 takes a free one)
  --data-dir DIR   where to keep data (default: SKILLBUCKET_DATA_DIR, or .skillbucket)

With SKILLBUCKET_BUCKET and SKILLBUCKET_TABLE set it uses S3 and DynamoDB from
the standard AWS environment instead. All settings: docs/configuration.md`,

  async run(args, io) {
    const { values, positionals } = readOptions(args, {
      port: { type: 'string' },
      'data-dir': { type: 'string' },
    });
    if (positionals.length > 0) throw new UsageError(`Unexpected argument ${positionals[0] ?? ''}.`);
    const config = readConfig({
      ...io.env,
      ...(values.port === undefined ? {} : { PORT: values.port }),
      ...(values['data-dir'] === undefined ? {} : { SKILLBUCKET_DATA_DIR: values['data-dir'] }),
    });
    const embedded = config.bucket === undefined && config.table === undefined;
    return embedded ? serveEmbedded(config, io) : serveAws(config, io);
  },
};

async function serveEmbedded(config: Config, io: Io): Promise<0> {
  await serveSamples(await startEmbedded(config, loggerFor(config, io)), config, io);
  io.out('\nStopped. Everything is kept for the next start.\n');
  return 0;
}

async function serveAws(config: Config, io: Io): Promise<0> {
  await serveUntilStopped(
    await composeAws(config, loggerFor(config, io), { holdRefusedMs: HOLD_REFUSED_MS }),
    config,
    io,
    (url) => {
      io.out(`Skillbucket listens at ${url} (bucket ${config.bucket ?? ''}, table ${config.table ?? ''}).\n`);
    },
  );
  return 0;
}
