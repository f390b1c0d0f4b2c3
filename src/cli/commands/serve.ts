import path from 'node:path';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import type { Hono } from 'hono';
import { composeAws } from '../../compose.ts';
import type { Config } from '../../config.ts';
import { readConfig } from '../../config.ts';
import { SkillError } from '../../core/errors.ts';
import type { AppEnv } from '../../http/route.ts';
import { startEmbedded } from '../../local/embedded.ts';
import type { LocalFile } from '../../local/seed.ts';
import { writeLocalFile } from '../../local/seed.ts';
import type { Logger } from '../../log.ts';
import { createLogger, terminalLines } from '../../log.ts';
import { isSystemError } from '../../sources/file-system.ts';
import type { Command, Io } from '../io.ts';
import { UsageError } from '../io.ts';
import { readOptions } from '../options.ts';
import { styled } from '../print.ts';

/** How long requests under way may take after a request to stop. */
const GRACE_MILLISECONDS = 5_000;

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
  const deployment = await startEmbedded(config, loggerFor(config, io));
  try {
    const { server, url } = await listen(deployment.app, config);
    await writeLocalFile(deployment.localFile, { url, tenants: deployment.tenants });
    io.out(welcome(io, url, deployment.tenants, deployment.localFile));
    await io.stopped();
    await stop(server);
  } finally {
    await deployment.close();
  }
  io.out('\nStopped. Everything is kept for the next start.\n');
  return 0;
}

async function serveAws(config: Config, io: Io): Promise<0> {
  const { server, url } = await listen(await composeAws(config, loggerFor(config, io)), config);
  io.out(`Skillbucket listens at ${url} (bucket ${config.bucket ?? ''}, table ${config.table ?? ''}).\n`);
  await io.stopped();
  await stop(server);
  return 0;
}

/** JSON lines for a collector, short ones for a person. */
function loggerFor(config: Config, io: Io): Logger {
  return createLogger(config.logLevel, io.interactive ? terminalLines(io.out.bind(io)) : undefined);
}

async function listen(app: Hono<AppEnv>, config: Config): Promise<{ server: Server; url: string }> {
  const listener = getRequestListener(app.fetch);
  const server = createServer((request, response) => {
    void listener(request, response);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => {
      reject(
        isSystemError(error)
          ? new SkillError('unavailable', {
              detail: `Port ${config.port} cannot be used (${error.code}). Choose another: PORT=8788 npm start`,
              cause: error,
            })
          : error,
      );
    });
    server.listen(config.port, config.host, resolve);
  });
  const { port, family, address } = server.address() as AddressInfo;
  return { server, url: `http://${family === 'IPv6' ? `[${address}]` : address}:${port}` };
}

/** Takes no more requests, lets those under way end, and does not wait for ever. */
async function stop(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => {
      resolve();
    });
  });
  server.closeIdleConnections();
  const late = setTimeout(() => {
    server.closeAllConnections();
  }, GRACE_MILLISECONDS);
  await closed;
  clearTimeout(late);
}

function welcome(io: Io, url: string, tenants: LocalFile['tenants'], localFile: string): string {
  const [first, second] = tenants;
  const command = (text: string) => `    ${styled(io, 'cyan', text)}\n`;
  const auth = `-H "Authorization: Bearer ${first?.api_key ?? ''}"`;
  const shown = path.relative(process.cwd(), localFile);
  return [
    `\n  ${styled(io, 'bold', 'Skillbucket')} is ready at ${styled(io, 'bold', url)}\n\n`,
    ...tenants.map((tenant) => `  tenant ${tenant.id.padEnd(8)} key ${tenant.api_key}\n`),
    `  (also in ${shown.startsWith('..') ? localFile : shown})\n\n`,
    '  Try it from another terminal:\n\n',
    `  1. What an agent's system prompt gets:\n`,
    command(`curl -s ${auth} ${url}/v1/catalog/prompt`),
    `  2. Load a skill into a session:\n`,
    command(
      `curl -s ${auth} ${url}/v1/tools/load_skill -d '{"name":"brand-voice","context":{"session_id":"demo"}}'`,
    ),
    `  3. Publish your own folder of skills to ${first?.id ?? ''}:\n`,
    command('npx skillbucket publish ./my-skills --bundle mine'),
    second === undefined
      ? ''
      : `  The same calls with ${second.id}'s key show ${second.id}'s skills, and none of ${first?.id ?? ''}'s.\n`,
    '\n  Ctrl-C stops.\n\n',
  ].join('');
}
