import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { Hono } from 'hono';
import { composeService } from '../../src/compose.ts';
import { tenantId } from '../../src/core/ids.ts';
import { DEFAULT_RESOURCE_POLICY, DEFAULT_TOKEN_LIMIT } from '../../src/core/limits.ts';
import type { ResourcePolicy } from '../../src/core/limits.ts';
import type { RateLimits } from '../../src/core/rate-limit.ts';
import type { AppEnv } from '../../src/http/route.ts';
import type { Index } from '../../src/events/indexer.ts';
import { indexer } from '../../src/events/indexer.ts';
import { localBucket } from '../../src/local/local-bucket.ts';
import { startLocalTable } from '../../src/local/local-table.ts';
import { createLogger } from '../../src/log.ts';
import { packageRoot } from '../../src/package-root.ts';
import { builtinSource } from '../../src/sources/builtin.ts';
import type { SkillSource } from '../../src/sources/source.ts';
import { directoryObjectStore } from '../../src/storage/directory.ts';
import type { ObjectStore } from '../../src/storage/object-store.ts';
import type { Table } from '../../src/storage/table.ts';
import { issueKey } from '../../src/tenancy/api-keys.ts';
import type { Scope } from '../../src/tenancy/credential-store.ts';
import { dynamoCredentialStore } from '../../src/tenancy/credential-store.ts';
import { OPERATOR } from '../../src/tenancy/reserved-tenants.ts';
import type { ObjectCounts, TableCounts } from './counting.ts';
import { countingObjects, countingTable } from './counting.ts';
import { watchedLogs } from './watched-logs.ts';

/** A whole service on real parts: directory store on disk, DynamoDB in this process, a clock that tests move. */
export interface TestService {
  readonly app: Hono<AppEnv>;
  readonly objects: ObjectStore;
  readonly table: Table;
  /** What was asked of bucket and table since the last `reset`. */
  readonly counts: { readonly objects: ObjectCounts; readonly table: TableCounts; reset(): void };
  readonly directory: string;
  /** Log lines so far, parsed. */
  readonly logs: Record<string, unknown>[];
  /** Moves the clock forward. */
  advance(seconds: number): void;
  readonly now: () => Date;
  /** Another process on the same bucket and table: nothing in memory is shared. */
  anotherProcess(): Hono<AppEnv>;
  /** Resolves when every upload that arrived is worked off. */
  idle(): Promise<void>;
  issue(tenant: string, scopes?: readonly Scope[]): Promise<string>;
  /** Stops it. @throws Error when a log line, of any time, held a secret or a body */
  close(): Promise<void>;
}

const ALL_SCOPES: readonly Scope[] = [
  'catalog:read',
  'skills:load',
  'bundles:write',
  'runtime:write',
  'policy:write',
];

/** Most tests want to count just their own skills. */
const noBuiltin: SkillSource = {
  root: { owner: 'builtin', bundle: 'builtin' },
  discover: () => Promise.resolve(undefined),
  files: () => Promise.reject(new Error('no built-in skills here')),
  read: () => Promise.reject(new Error('no built-in skills here')),
};

export async function startService(
  options: {
    readonly resources?: Partial<ResourcePolicy>;
    /** Of each tenant; none unless given, as tests ask faster than anybody may. */
    readonly rateLimits?: RateLimits;
    readonly holdRefusedMs?: number;
    readonly withBuiltin?: boolean;
    /** Whether an upload that arrives is indexed by itself, as on AWS (default), or waits to be completed. */
    readonly events?: boolean;
    readonly wrap?: (objects: ObjectStore) => ObjectStore;
    readonly wrapTable?: (table: Table) => Table;
  } = {},
): Promise<TestService> {
  const directory = await mkdtemp(path.join(os.tmpdir(), 'skillbucket-test-'));
  const counts = {
    objects: { get: 0, unmodified: 0, put: 0, size: 0, list: 0, bytes: 0, keys: [] as string[] },
    table: { get: 0, put: 0, set: 0, delete: 0, add: 0, query: 0 },
  };
  const local = await startLocalTable();
  const stored = directoryObjectStore(path.join(directory, 'bucket'));
  const objects = countingObjects(options.wrap?.(stored) ?? stored, counts.objects);
  const table = countingTable(options.wrapTable?.(local.table) ?? local.table, counts.table);
  const logs: Record<string, unknown>[] = [];
  const written: Record<string, unknown>[] = [];
  const watched = watchedLogs();
  let offset = 0;
  const now = () => new Date(Date.now() + offset);
  const builtin =
    options.withBuiltin === true ? await builtinSource(path.join(packageRoot(), 'skills-bundle')) : noBuiltin;
  const logger = createLogger('info', {
    write(line) {
      const entry = JSON.parse(line) as Record<string, unknown>;
      logs.push(entry);
      written.push(entry);
    },
  });
  const index: Index = options.events === false ? () => Promise.resolve() : indexer({ objects, logger, now });
  const bucket = localBucket({ objects, index, logger, now });
  const compose = () =>
    watched.watch(
      composeService({
        objects,
        transfers: bucket.transfers,
        mount: bucket.mount,
        table,
        builtin,
        config: {
          freshnessSeconds: 5,
          sessionTtlSeconds: 24 * 60 * 60,
          receiptDays: 90,
          maxTokens: DEFAULT_TOKEN_LIMIT,
          rateLimits: options.rateLimits ?? {},
          resources: { ...DEFAULT_RESOURCE_POLICY, ...options.resources },
        },
        logger,
        holdRefusedMs: options.holdRefusedMs ?? 0,
        now,
      }),
    );
  const credentials = dynamoCredentialStore(table);
  return {
    app: compose(),
    objects,
    table,
    counts: {
      ...counts,
      reset() {
        Object.assign(counts.objects, {
          get: 0,
          unmodified: 0,
          put: 0,
          size: 0,
          list: 0,
          bytes: 0,
          keys: [],
        });
        Object.assign(counts.table, { get: 0, put: 0, set: 0, delete: 0, add: 0, query: 0 });
      },
    },
    directory,
    logs,
    advance(seconds) {
      offset += seconds * 1000;
    },
    now,
    anotherProcess: compose,
    idle: bucket.idle,
    async issue(tenant, scopes = tenant === OPERATOR ? ['admin'] : ALL_SCOPES) {
      const id = tenantId(tenant);
      if ((await credentials.findTenant(id)) === undefined) {
        await credentials.createTenant({ id, name: tenant, status: 'active', created_at: 0 });
      }
      const key = issueKey();
      watched.add(key.key);
      await credentials.saveKey(key.secretHash, {
        id: key.id,
        tenant: id,
        scopes: [...scopes],
        created_at: 0,
      });
      return key.key;
    },
    async close() {
      await bucket.idle();
      await local.close();
      await rm(directory, { recursive: true, force: true });
      const leaks = watched.leaks(written);
      if (leaks.length > 0) throw new Error(`[D7] The log holds secrets or bodies:\n${leaks.join('\n')}`);
    },
  };
}
