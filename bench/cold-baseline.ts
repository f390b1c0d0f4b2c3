import { DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import { GetObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { Hono } from 'hono';
import { handle } from 'hono/aws-lambda';

/**
 * What the API's cold start is measured against: Hono and the two AWS clients, and nothing else. A request reads one
 * item and then one object, and hands on the object's bytes.
 */
const s3 = new S3Client({ forcePathStyle: true });
const dynamodb = new DynamoDBClient({});
const app = new Hono();

app.get('/v1/catalog', async (context) => {
  const item = await dynamodb.send(
    new GetItemCommand({
      TableName: process.env['BASELINE_TABLE'],
      Key: JSON.parse(process.env['BASELINE_KEY'] ?? '') as { pk: { S: string }; sk: { S: string } },
      ConsistentRead: true,
    }),
  );
  if (item.Item === undefined) return context.text('no such item', 404);
  const object = await s3.send(
    new GetObjectCommand({
      Bucket: process.env['BASELINE_BUCKET'],
      Key: process.env['BASELINE_OBJECT'],
    }),
  );
  const body = (await object.Body?.transformToString()) ?? '';
  return context.body(body, 200, { 'content-type': 'application/json' });
});

app.get('/nothing', (context) => context.json({ status: 'ok' }));

// eslint-disable-next-line @typescript-eslint/no-deprecated -- as in src/http/lambda.ts
export const handler = handle(app);
