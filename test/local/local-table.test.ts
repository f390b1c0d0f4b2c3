import { DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { LocalTable } from '../../src/local/local-table.ts';
import { LOCAL_TABLE, startLocalTable } from '../../src/local/local-table.ts';

let local: LocalTable;

beforeAll(async () => {
  local = await startLocalTable();
});
afterAll(() => local.close());

test('other users of the machine are refused: they do not know the access key', async () => {
  const stranger = new DynamoDBClient({
    endpoint: local.endpoint,
    region: 'local',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
  await expect(stranger.send(new ScanCommand({ TableName: LOCAL_TABLE }))).rejects.toMatchObject({
    $metadata: { httpStatusCode: 403 },
  });
  stranger.destroy();
});

test('so is a web page, before and after asking whether it may', async () => {
  const own = await startLocalTable({ accessKeyId: 'known' });
  try {
    const headers = {
      origin: 'https://elsewhere.test',
      authorization: 'AWS4-HMAC-SHA256 Credential=known/20261204/local/dynamodb/aws4_request',
      'x-amz-target': 'DynamoDB_20120810.ListTables',
      'content-type': 'application/x-amz-json-1.0',
    };
    for (const method of ['OPTIONS', 'POST']) {
      const body = method === 'POST' ? '{}' : undefined;
      const answer = await fetch(own.endpoint, { method, headers, ...(body === undefined ? {} : { body }) });
      expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([403, null]);
    }
  } finally {
    await own.close();
  }
});
