import { createRequire } from 'node:module';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { ClassicLevel } from 'classic-level';
import type { Table } from '../storage/table.ts';
import { dynamoTable } from '../storage/table.ts';
import { createTable } from './create-table.ts';

/** Its name; there is one. */
export const LOCAL_TABLE = 'skillbucket';

export interface LocalTable {
  readonly table: Table;
  /** Where the AWS SDK finds it. */
  readonly endpoint: string;
  close(): Promise<void>;
}

/**
 * DynamoDB in this process: dynalite on a free loopback port, spoken to through the real SDK. With a path it keeps its
 * data there (one process at a time), without one in memory.
 */
export async function startLocalTable(options: { readonly path?: string } = {}): Promise<LocalTable> {
  if (options.path !== undefined) await requireUnlocked(options.path);
  const server = createDynalite({ ...options, createTableMs: 0 });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  const endpoint = `http://127.0.0.1:${port}`;
  const client = new DynamoDBClient({
    endpoint,
    region: 'local',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
  await createTable(client, LOCAL_TABLE);
  return {
    endpoint,
    table: dynamoTable(client, { table: LOCAL_TABLE }),
    close: () =>
      new Promise((resolve, reject) => {
        client.destroy();
        server.closeAllConnections();
        server.close((error) => {
          // dynalite passes null where node passes nothing.
          if (error) reject(error);
          else resolve();
        });
      }),
  };
}

/** dynalite ends the process when its database is in use; so that is found out before. */
async function requireUnlocked(path: string): Promise<void> {
  const database = new ClassicLevel(path);
  await database.open();
  await database.close();
}

/** dynalite is CommonJS without types. */
function createDynalite(options: { readonly path?: string; readonly createTableMs: number }): Server {
  const require = createRequire(import.meta.url);
  const dynalite = require('dynalite') as (given: typeof options) => Server;
  return dynalite(options);
}
