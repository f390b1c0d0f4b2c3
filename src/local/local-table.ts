import { randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import type { IncomingMessage, RequestListener, Server } from 'node:http';
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
 * data there (one process at a time), without one in memory. dynalite would answer every user of the machine and every
 * web page, so a request must name an access key that only this process knows, or whom it told.
 */
export async function startLocalTable(
  options: { readonly path?: string; readonly accessKeyId?: string } = {},
): Promise<LocalTable> {
  const { path, accessKeyId = randomBytes(24).toString('hex') } = options;
  if (path !== undefined) await requireUnlocked(path);
  const server = createDynalite({ ...(path === undefined ? {} : { path }), createTableMs: 0 });
  guard(server, accessKeyId);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  const endpoint = `http://127.0.0.1:${port}`;
  const client = new DynamoDBClient({
    endpoint,
    region: 'local',
    credentials: { accessKeyId, secretAccessKey: 'local' },
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

/** Lets nobody through who does not know the access key, and no web page. */
function guard(server: Server, accessKeyId: string): void {
  const answers = server.listeners('request') as RequestListener[];
  const isOurs = ({ headers }: IncomingMessage) =>
    headers.origin === undefined && headers.authorization?.includes(` Credential=${accessKeyId}/`) === true;
  server.removeAllListeners('request');
  server.on('request', (request, response) => {
    if (isOurs(request)) for (const answer of answers) answer(request, response);
    else response.writeHead(403).end();
  });
}

/** dynalite is CommonJS without types. */
function createDynalite(options: { readonly path?: string; readonly createTableMs: number }): Server {
  const require = createRequire(import.meta.url);
  const dynalite = require('dynalite') as (given: typeof options) => Server;
  return dynalite(options);
}
