import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { packageRoot } from '../../src/package-root.ts';
import { emptyFunctions } from './synthesized.ts';

const temporary = (): string => mkdtempSync(path.join(tmpdir(), 'skillbucket-synth-'));

/** `cdk synth` with an empty home, no credentials, and a network that leads nowhere. */
function synth(...options: string[]) {
  const cdk = path.join(packageRoot(), 'node_modules', 'aws-cdk', 'bin', 'cdk');
  const nowhere = 'http://127.0.0.1:9';
  return spawnSync(process.execPath, [cdk, 'synth', '--quiet', ...options], {
    cwd: packageRoot(),
    encoding: 'utf8',
    env: {
      PATH: process.env['PATH'],
      HOME: temporary(),
      HTTP_PROXY: nowhere,
      HTTPS_PROXY: nowhere,
      AWS_EC2_METADATA_DISABLED: 'true',
    },
  });
}

test('[D4] `cdk synth` runs offline, without credentials', () => {
  const output = temporary();
  const { status, stderr } = synth(
    '--output',
    output,
    '-c',
    'stage=prod',
    '-c',
    `functions=${emptyFunctions()}`,
  );
  expect([status, stderr]).toEqual([0, expect.any(String)]);
  expect(readdirSync(output)).toContain('skillbucket-prod.template.json');
  const report = readFileSync(path.join(output, 'manifest.json'), 'utf8');
  expect(report).not.toMatch(/aws:cdk:error/);
});

test('[D4] without the bundled functions it says what to do', () => {
  const { status, stderr } = synth('--output', temporary(), '-c', `functions=${temporary()}`);
  expect(status).not.toBe(0);
  expect(stderr).toContain('run `npm run bundle` first');
});
