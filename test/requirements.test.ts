import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { packageRoot } from '../src/package-root.ts';
import { DELIVERED, PARTIAL } from './requirements.ts';

const TESTS = path.join(packageRoot(), 'test');

/** Ids in the names of tests and of groups of tests; a comment proves nothing. */
function idsInTestNames(): Set<string> {
  const ids = new Set<string>();
  for (const file of readdirSync(TESTS, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.test.ts')) continue;
    const text = readFileSync(path.join(TESTS, file), 'utf8');
    for (const [, name = ''] of text.matchAll(
      /\b(?:test|describe)(?:\.each\([\s\S]*?\))?\(\s*['"`]([^\n]*)/g,
    )) {
      for (const [, id = ''] of name.matchAll(/\[([A-Z]\d+)\]/g)) ids.add(id);
    }
  }
  return ids;
}

test('every delivered id has a test that names it', () => {
  const named = idsInTestNames();
  const missing = Object.keys(DELIVERED).filter((id) => !named.has(id));
  expect(missing).toEqual([]);
});

test('tests name only ids that are promised', () => {
  const unknown = [...idsInTestNames()].filter((id) => !(id in DELIVERED) && !(id in PARTIAL));
  expect(unknown).toEqual([]);
});

test('[D8] the packages and the top level are as designed', () => {
  const { dependencies, devDependencies } = JSON.parse(
    readFileSync(path.join(packageRoot(), 'package.json'), 'utf8'),
  ) as {
    dependencies: Record<string, string>;
    devDependencies: Record<string, string>;
  };
  for (const name of ['hono', '@aws-sdk/client-s3', '@aws-sdk/client-dynamodb', 'zod', 'yaml', 'file-type']) {
    expect(dependencies[name]).toMatch(/^\d+\.\d+\.\d+$/);
  }
  for (const name of ['vitest', 'aws-cdk-lib']) {
    expect(devDependencies[name]).toMatch(/^\d+\.\d+\.\d+$/);
  }
  for (const name of [
    'package.json',
    'tsconfig.json',
    'cdk',
    'functions',
    'src',
    'test',
    'skills-bundle',
    'README.md',
    'LICENSE',
  ]) {
    expect([name, existsSync(path.join(packageRoot(), name))]).toEqual([name, true]);
  }
});
