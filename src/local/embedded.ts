import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { Hono } from 'hono';
import { indexer } from '../events/indexer.ts';
import { composeService } from '../compose.ts';
import type { Config } from '../config.ts';
import { SkillError } from '../core/errors.ts';
import { HOLD_REFUSED_MS } from '../core/limits.ts';
import { lifetimeOf } from '../core/manifest/object-keys.ts';
import type { AppEnv } from '../http/route.ts';
import type { Logger } from '../log.ts';
import { packageRoot } from '../package-root.ts';
import { builtinSource } from '../sources/builtin.ts';
import { expireDirectory } from '../storage/expire-directory.ts';
import { directoryObjectStore } from '../storage/directory.ts';
import { dynamoCredentialStore } from '../tenancy/credential-store.ts';
import { localBucket } from './local-bucket.ts';
import type { LocalFile } from './seed.ts';
import { seed } from './seed.ts';
import type { LocalTable } from './local-table.ts';
import { startLocalTable } from './local-table.ts';

export interface Embedded {
  readonly app: Hono<AppEnv>;
  readonly tenants: LocalFile['tenants'];
  readonly operator: LocalFile['operator'];
  readonly localFile: string;
  close(): Promise<void>;
}

/** Where the embedded deployment keeps its bucket, its table and its address. */
export const localPaths = (dataDir: string) => ({
  bucket: path.join(dataDir, 'bucket'),
  table: path.join(dataDir, 'table'),
  localFile: path.join(dataDir, 'local.json'),
});

/** The whole deployment in one process: directory store, in-process DynamoDB, sample tenants. State is kept on disk. */
export async function startEmbedded(config: Config, logger: Logger): Promise<Embedded> {
  const dataDir = path.resolve(config.dataDir);
  const paths = localPaths(dataDir);
  // Keys and tenants' content are in here.
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  await expireDirectory(paths.bucket, lifetimeOf, new Date());
  const objects = directoryObjectStore(paths.bucket);
  const local = await openTable(paths.table);
  try {
    const now = () => new Date();
    const { tenants, operator } = await seed({
      objects,
      credentials: dynamoCredentialStore(local.table),
      samplesDir: path.join(packageRoot(), 'samples'),
      localFile: paths.localFile,
      now,
    });
    const builtin = await builtinSource(path.join(packageRoot(), 'skills-bundle'));
    const { transfers, mount, idle } = localBucket({
      objects,
      index: indexer({ objects, logger, now }),
      logger,
      now,
    });
    const app = composeService({
      objects,
      transfers,
      table: local.table,
      builtin,
      config,
      logger,
      holdRefusedMs: HOLD_REFUSED_MS,
      now,
      mount,
    });
    const close = async () => {
      await idle();
      await local.close();
    };
    return { app, tenants, operator, localFile: paths.localFile, close };
  } catch (error) {
    await local.close();
    throw error;
  }
}

async function openTable(tablePath: string): Promise<LocalTable> {
  await mkdir(path.dirname(tablePath), { recursive: true });
  try {
    return await startLocalTable({ path: tablePath });
  } catch (error) {
    throw new SkillError('unavailable', {
      detail: `The data under ${path.dirname(tablePath)} cannot be opened. Is another \`skillbucket serve\` using it?`,
      cause: error,
    });
  }
}
