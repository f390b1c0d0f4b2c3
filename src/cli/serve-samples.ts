import path from 'node:path';
import type { Hono } from 'hono';
import type { Config } from '../config.ts';
import type { AppEnv } from '../http/route.ts';
import type { LocalFile } from '../local/seed.ts';
import { writeLocalFile } from '../local/seed.ts';
import type { Io } from './io.ts';
import { styled } from './print.ts';
import { serveUntilStopped } from './serving.ts';

/** The service with the sample tenants, wherever it keeps its data. */
export interface SampleDeployment {
  readonly app: Hono<AppEnv>;
  readonly tenants: LocalFile['tenants'];
  readonly operator: LocalFile['operator'];
  /** Where keys and address are written. */
  readonly localFile: string;
  /** Whether `skillbucket publish` must be told where it is. */
  readonly isElsewhere?: boolean;
  close(): Promise<void>;
}

/** Serves a deployment with sample tenants until the process is asked to stop, and tells a person what to try. */
export async function serveSamples(deployment: SampleDeployment, config: Config, io: Io): Promise<void> {
  try {
    await serveUntilStopped(deployment.app, config, io, async (url) => {
      await writeLocalFile(deployment.localFile, {
        url,
        tenants: deployment.tenants,
        operator: deployment.operator,
      });
      io.out(welcome(io, url, deployment));
    });
  } finally {
    await deployment.close();
  }
}

function welcome(
  io: Io,
  url: string,
  { tenants, operator, localFile, isElsewhere }: SampleDeployment,
): string {
  const [first, second] = tenants;
  const command = (text: string) => `    ${styled(io, 'cyan', text)}\n`;
  const auth = `-H "Authorization: Bearer ${first?.api_key ?? ''}"`;
  const publish = 'npx skillbucket publish ./my-skills --bundle mine';
  const shown = path.relative(process.cwd(), localFile);
  return [
    `\n  ${styled(io, 'bold', 'Skillbucket')} is ready at ${styled(io, 'bold', url)}\n\n`,
    ...tenants.map((tenant) => `  tenant ${tenant.id.padEnd(8)} key ${tenant.api_key}\n`),
    `  operator        key ${operator?.api_key ?? ''}\n`,
    `  (also in ${shown.startsWith('..') ? localFile : shown})\n\n`,
    '  Try it from another terminal:\n\n',
    `  1. What an agent's system prompt gets:\n`,
    command(`curl -s ${auth} ${url}/v1/catalog/prompt`),
    `  2. Load a skill into a session:\n`,
    command(
      `curl -s ${auth} ${url}/v1/tools/load_skill -d '{"name":"brand-voice","context":{"session_id":"demo"}}'`,
    ),
    `  3. Publish your own folder of skills to ${first?.id ?? ''}:\n`,
    command(
      isElsewhere === true ? `SKILLBUCKET_KEY=${first?.api_key ?? ''} ${publish} --url ${url}` : publish,
    ),
    second === undefined
      ? ''
      : `  The same calls with ${second.id}'s key show ${second.id}'s skills, and none of ${first?.id ?? ''}'s.\n`,
    '\n  Ctrl-C stops.\n\n',
  ].join('');
}
