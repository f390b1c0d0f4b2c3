import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { LocalFile } from '../../src/local/seed.ts';
import { packageRoot } from '../../src/package-root.ts';
import { emulatorEndpoint } from '../support/emulated-aws.ts';

const endpoint = emulatorEndpoint(process.env['SKILLBUCKET_TEST_S3_ENDPOINT'], 'npm run dev:localstack');

describe.skipIf(endpoint === '')('[D6] npm run dev:localstack', () => {
  let directory: string;
  const name = `skillbucket-test-${randomUUID()}`;

  beforeAll(async () => {
    directory = await mkdtemp(path.join(os.tmpdir(), 'skillbucket-dev-'));
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));

  /** Runs it until it is ready, does something with it, and stops it as Ctrl-C does. */
  async function whileRunning<T>(use: (local: LocalFile, output: string) => Promise<T>): Promise<T> {
    const child = spawn(process.execPath, [path.join(packageRoot(), 'scripts', 'dev-localstack.mjs')], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...process.env,
        PORT: '0',
        SKILLBUCKET_DATA_DIR: directory,
        SKILLBUCKET_BUCKET: name,
        SKILLBUCKET_TABLE: name,
      },
    });
    const exited = once(child, 'exit');
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
    try {
      while (!output.includes('Ctrl-C stops')) {
        if (child.exitCode !== null) throw new Error(output);
        await Promise.race([once(child.stdout, 'data'), exited]);
      }
      const text = await readFile(path.join(directory, 'localstack.json'), 'utf8');
      return await use(JSON.parse(text) as LocalFile, output);
    } finally {
      child.kill('SIGINT');
      expect(await exited).toEqual([0, null]);
    }
  }

  const ask = async (local: LocalFile, tenant: number, route: string) => {
    const headers = { authorization: `Bearer ${local.tenants[tenant]?.api_key ?? ''}` };
    const answer = await fetch(`${local.url}${route}`, { headers });
    return await answer.json();
  };

  test('[D6] makes bucket, table and sample tenants, and finds them again at the next start', async () => {
    const first = await whileRunning(async (local, output) => {
      expect(local.tenants.map((tenant) => tenant.id)).toEqual(['acme', 'globex']);
      for (const { api_key } of local.tenants) expect(output).toContain(api_key);
      expect(output).toContain(endpoint);
      expect(await ask(local, 0, '/v1/bundles/main')).toMatchObject({ revision: 1 });
      expect(JSON.stringify(await ask(local, 1, '/v1/catalog'))).not.toContain('Acme');
      return local.tenants;
    });
    await whileRunning(async (local) => {
      expect(local.tenants).toEqual(first);
      expect(await ask(local, 0, '/v1/bundles/main')).toMatchObject({ revision: 1, generation: 1 });
    });
  });
});
