import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { packageRoot } from '../../src/package-root.ts';
import { zipOf } from '../support/archive-bytes.ts';
import { skillMd } from '../support/skills.ts';

/** The real thing: `skillbucket serve` as a process, spoken to over loopback. */
interface Serving {
  readonly child: ChildProcess;
  readonly url: string;
  readonly tenants: readonly { id: string; api_key: string }[];
  readonly output: () => string;
}

let directory: string;
const children: ChildProcess[] = [];

beforeAll(async () => {
  directory = await mkdtemp(path.join(os.tmpdir(), 'skillbucket-serve-'));
});
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await rm(directory, { recursive: true, force: true });
});

function spawnServe(args: readonly string[] = ['--port', '0']): {
  child: ChildProcess;
  output: () => string;
} {
  const bin = path.join(packageRoot(), 'bin', 'skillbucket.mjs');
  const child = spawn(process.execPath, [bin, 'serve', ...args, '--data-dir', directory], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (text += chunk.toString()));
  return { child, output: () => text };
}

async function serve(): Promise<Serving> {
  const { child, output } = spawnServe();
  while (!output().includes('Ctrl-C stops')) {
    if (child.exitCode !== null) throw new Error(output());
    await once(child.stdout ?? child, 'data');
  }
  const local = JSON.parse(await readFile(path.join(directory, 'local.json'), 'utf8')) as Pick<
    Serving,
    'url' | 'tenants'
  >;
  return { child, output, ...local };
}

async function stop({ child }: Serving, signal: 'SIGINT' | 'SIGTERM' | 'SIGKILL'): Promise<number | null> {
  const exited = once(child, 'exit');
  child.kill(signal);
  const [code] = (await exited) as [number | null];
  return code;
}

const ask = (serving: Serving, tenant: number, route: string, init: RequestInit = {}) =>
  fetch(`${serving.url}${route}`, {
    ...init,
    headers: { authorization: `Bearer ${serving.tenants[tenant]?.api_key ?? ''}` },
  });

describe('skillbucket serve, embedded', () => {
  test('seeds two tenants, keeps state over a stop and over a kill, stops cleanly', async () => {
    const first = await serve();
    expect(first.tenants.map((tenant) => tenant.id)).toEqual(['acme', 'globex']);
    expect((await stat(path.join(directory, 'local.json'))).mode & 0o777).toBe(0o600);
    for (const { api_key } of first.tenants) expect(first.output()).toContain(api_key);
    expect(first.output()).toContain(first.url);

    const bodies = await Promise.all(
      [0, 1].map(async (tenant) => {
        const answer = await ask(first, tenant, '/v1/tools/load_skill', {
          method: 'POST',
          body: JSON.stringify({ name: 'brand-voice', context: { session_id: 'kept' } }),
        });
        expect(answer.status).toBe(200);
        return answer.text();
      }),
    );
    expect(bodies[0]).toContain('Acme');
    expect(bodies[0]).not.toContain('Globex');
    expect(bodies[1]).toContain('Globex');
    expect(bodies[1]).not.toContain('Acme');
    const published = await ask(first, 0, '/v1/bundles/mine', {
      method: 'PUT',
      body: new Uint8Array(zipOf({ 'mine/SKILL.md': skillMd('mine') })),
    });
    expect(published.status).toBe(201);
    expect(await stop(first, 'SIGINT')).toBe(0);

    const second = await serve();
    expect(second.tenants).toEqual(first.tenants);
    expect((await ask(second, 0, '/v1/skills/mine')).status).toBe(200);
    expect((await ask(second, 1, '/v1/skills/mine')).status).toBe(404);
    const sessions = (await (await ask(second, 0, '/v1/sessions/kept/activations')).json()) as {
      activations: unknown[];
    };
    expect(sessions.activations).toHaveLength(1);
    await stop(second, 'SIGKILL');

    const third = await serve();
    expect(third.tenants).toEqual(first.tenants);
    expect((await ask(third, 0, '/v1/skills/mine')).status).toBe(200);
    expect(await stop(third, 'SIGTERM')).toBe(0);
  });

  test('a second one on the same data, or on a port in use, says so and ends with 2', async () => {
    const running = await serve();
    for (const args of [
      ['--port', '0'],
      ['--port', new URL(running.url).port],
    ]) {
      const { child, output } = spawnServe(args);
      const [code] = (await once(child, 'exit')) as [number];
      expect(code).toBe(2);
      expect(output()).toContain('cannot be');
    }
    expect((await fetch(`${running.url}/healthz`)).status).toBe(200);
    expect(await stop(running, 'SIGTERM')).toBe(0);
  });

  test('answers over a real connection: a large body refused by auth or size does not hang or break others', async () => {
    const running = await serve();
    const large = new Uint8Array(30 * 1024 * 1024);
    const refused = await fetch(`${running.url}/v1/bundles/x`, { method: 'PUT', body: large }).catch(
      (error: unknown) => error,
    );
    if (refused instanceof Response) expect(refused.status).toBe(401);
    const tooLarge = await ask(running, 0, '/v1/bundles/x', { method: 'PUT', body: large }).catch(
      (error: unknown) => error,
    );
    if (tooLarge instanceof Response) expect(tooLarge.status).toBe(413);
    expect((await ask(running, 0, '/v1/catalog')).status).toBe(200);
    const head = await ask(running, 0, '/v1/catalog', { method: 'HEAD' });
    const get = await ask(running, 0, '/v1/catalog');
    expect(head.headers.get('content-length')).toBe(get.headers.get('content-length'));
    expect(running.output()).not.toContain('"status":500');
    expect(await stop(running, 'SIGINT')).toBe(0);
  });
});
