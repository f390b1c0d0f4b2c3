import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { packageRoot } from '../src/package-root.ts';

/**
 * The directions of the house: which room may import from which. A room that is not named on the left may import
 * nothing of ours; `core` reaches nobody; `compose.ts` alone knows everybody.
 */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  core: [],
  archives: ['core'],
  storage: ['core'],
  sessions: ['core', 'storage'],
  records: ['core', 'storage'],
  sources: ['core', 'storage'],
  tenancy: ['core', 'storage', 'sessions', 'records', 'sources'],
  operations: ['core', 'archives', 'storage', 'sessions', 'records', 'sources', 'tenancy'],
  http: ['core', 'archives', 'operations', 'sources', 'tenancy', 'log.ts'],
  events: ['core', 'operations', 'storage', 'tenancy', 'log.ts'],
  local: [
    'core',
    'events',
    'operations',
    'sources',
    'storage',
    'tenancy',
    'http',
    'aws-clients.ts',
    'config.ts',
    'compose.ts',
    'log.ts',
    'package-root.ts',
  ],
  cli: [
    'core',
    'archives',
    'operations',
    'sources',
    'storage',
    'tenancy',
    'http',
    'local',
    'aws-clients.ts',
    'config.ts',
    'compose.ts',
    'compose-operator.ts',
    'log.ts',
    'package-root.ts',
  ],
  'config.ts': ['core', 'log.ts'],
  'log.ts': [],
  'package-root.ts': [],
  'aws-clients.ts': ['config.ts', 'storage'],
  'compose-operator.ts': [
    'core',
    'http',
    'sources',
    'storage',
    'tenancy',
    'aws-clients.ts',
    'compose.ts',
    'config.ts',
    'log.ts',
  ],
  'compose-indexer.ts': ['core', 'events', 'aws-clients.ts', 'config.ts', 'log.ts'],
  'compose.ts': [
    'core',
    'http',
    'sessions',
    'sources',
    'storage',
    'tenancy',
    'aws-clients.ts',
    'config.ts',
    'log.ts',
    'package-root.ts',
  ],
};

/** Packages that belong to one room: everybody else goes through its port. */
const OWNERS: readonly [RegExp, readonly string[]][] = [
  [/^@aws-sdk\/client-s3$/, ['storage', 'aws-clients.ts']],
  [/^@aws-sdk\/(?:client|util)-dynamodb$/, ['storage', 'local', 'aws-clients.ts']],
  [/^(?:yauzl|tar-stream)$/, ['archives']],
  [/^(?:yaml|zod)(?:\/|$)/, ['core']],
  [/^hono(?:\/|$)/, ['http', 'compose.ts', 'compose-operator.ts', 'local', 'cli']],
  [/^@hono\/node-server$/, ['cli']],
  [/^classic-level$/, ['local']],
  [/^(?:aws-cdk-lib|constructs|cdk-nag|esbuild)(?:\/|$)/, []],
];

/** I/O, clock, randomness, environment. Hashing is pure. */
const IMPURE = /\bprocess\.|\bDate\.now\(|new Date\(\)|Math\.random\(|\bfetch\(|from 'node:(?!crypto)/;

const SRC = path.join(packageRoot(), 'src');

const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .map((file) => file.replaceAll('\\', '/'))
  .filter((file) => file.endsWith('.ts'));

const roomOf = (file: string): string => file.split('/')[0] ?? file;

const textOf = (file: string): string => readFileSync(path.join(SRC, file), 'utf8');

/** Also what is imported late: the walls stand for it too. */
function importsOf(file: string): string[] {
  const text = textOf(file);
  return [
    ...text.matchAll(/^(?:import|export)[^;]*? from '([^']+)'/gms),
    ...text.matchAll(/\bimport\('([^']+)'\)/g),
  ].map((match) => match[1] ?? '');
}

function ownImports(file: string): string[] {
  return importsOf(file)
    .filter((one) => one.startsWith('.'))
    .map((one) => path.posix.join(path.posix.dirname(file), one));
}

describe('the house', () => {
  test('every file is in a known room, and imports only from rooms that it may', () => {
    const wrong: string[] = [];
    for (const file of files) {
      const room = roomOf(file);
      const allowed = MAY_IMPORT[room];
      if (allowed === undefined) wrong.push(`${file}: no such room`);
      for (const target of ownImports(file)) {
        const other = roomOf(target);
        if (other !== room && allowed?.includes(other) !== true) wrong.push(`${file} imports ${target}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  test('no file imports itself in a circle', () => {
    const state = new Map<string, 'open' | 'done'>();
    const circles: string[] = [];
    const visit = (file: string, trail: readonly string[]): void => {
      if (state.get(file) === 'done') return;
      if (state.get(file) === 'open') {
        circles.push([...trail, file].join(' → '));
        return;
      }
      state.set(file, 'open');
      for (const target of ownImports(file)) visit(target, [...trail, file]);
      state.set(file, 'done');
    };
    for (const file of files) visit(file, []);
    expect(circles).toEqual([]);
  });

  test('a package that belongs to a room is imported there alone', () => {
    const wrong = files.flatMap((file) =>
      importsOf(file)
        .filter((name) =>
          OWNERS.some(([pattern, rooms]) => pattern.test(name) && !rooms.includes(roomOf(file))),
        )
        .map((name) => `${file} imports ${name}`),
    );
    expect(wrong).toEqual([]);
  });

  test('core is pure; the environment is read in one place', () => {
    expect(files.filter((file) => roomOf(file) === 'core' && IMPURE.test(textOf(file)))).toEqual([]);
    const readers = files.filter((file) => /process\.env/.test(textOf(file)));
    // The command hands the environment to config.ts; nobody else sees it.
    expect(readers).toEqual(['cli/main.ts']);
  });

  test('the stack takes constants from core, and nothing else of the service', () => {
    const directory = path.join(packageRoot(), 'cdk');
    const targets = readdirSync(directory, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .flatMap((file) => [
        ...readFileSync(path.join(directory, file), 'utf8').matchAll(/ from '(?:\.\.\/)+(src\/[^']+)'/g),
      ])
      .map((match) => match[1] ?? '');
    expect(targets.length).toBeGreaterThan(0);
    expect(targets.filter((one) => !/^src\/(?:core\/|package-root\.ts$)/.test(one))).toEqual([]);
  });

  test('no barrels, no default exports, file names in kebab-case', () => {
    expect(files.filter((file) => path.basename(file) === 'index.ts')).toEqual([]);
    expect(files.filter((file) => /^export default/m.test(textOf(file)))).toEqual([]);
    expect(files.filter((file) => !/^[a-z0-9/-]+\.ts$/.test(file))).toEqual([]);
  });
});
