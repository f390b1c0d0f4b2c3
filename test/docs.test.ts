import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { readConfig } from '../src/config.ts';
import { ERRORS } from '../src/core/errors.ts';
import { ROUTES } from '../src/http/route-table.ts';
import { packageRoot } from '../src/package-root.ts';

const read = (file: string): string => readFileSync(path.join(packageRoot(), file), 'utf8');

test('docs/errors.md names every code', () => {
  const named = new Set(
    [...read('docs/errors.md').matchAll(/^\| `([a-z0-9_]+)` +\|/gm)].map((match) => match[1]),
  );
  expect([...named].sort()).toEqual(Object.keys(ERRORS).sort());
});

test('docs/api.md names every route', () => {
  const text = read('docs/api.md')
    .replaceAll('…', '/v1/bundles/{b}')
    .replaceAll(/\{[a-z]+\}/g, ':x');
  const missing = ROUTES.map((route) => route.path.replaceAll(/:[a-z]+/g, ':x')).filter(
    (one) => !text.includes(one),
  );
  expect(missing).toEqual([]);
});

test('docs/configuration.md names every setting, and no other', () => {
  const source = read('src/config.ts');
  const settings = new Set(
    [...source.matchAll(/^ {2}(SKILLBUCKET_[A-Z0-9_]+|PORT|HOST):/gm)].map((match) => match[1]),
  );
  const documented = new Set(
    [...read('docs/configuration.md').matchAll(/`(SKILLBUCKET_[A-Z0-9_]+|PORT|HOST)`/g)].map(
      (match) => match[1],
    ),
  );
  expect([...documented].sort()).toEqual([...settings].sort());
  expect(readConfig({})).toMatchObject({
    port: 8787,
    freshnessSeconds: 5,
    sessionTtlSeconds: 86_400,
    maxTokens: 10_000,
  });
});

test('links between the documents lead somewhere', () => {
  const pages = [
    'README.md',
    'CONTRIBUTING.md',
    ...readdirSync(path.join(packageRoot(), 'docs'), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.md'))
      .map((file) => `docs/${file}`),
  ];
  const broken = pages.flatMap((page) =>
    [...read(page).matchAll(/\]\((?!https?:)([^)#]+)/g)]
      .map((match) => path.join(path.dirname(page), match[1] ?? ''))
      .filter((target) => !existsSync(path.join(packageRoot(), target)))
      .map((target) => `${page} → ${target}`),
  );
  expect(broken).toEqual([]);
});
