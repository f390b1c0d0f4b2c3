import { readFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { packageRoot } from '../../src/package-root.ts';
import type { Statement } from './statements.ts';
import { managedPoliciesOf, statementsOf } from './statements.ts';
import { appWith, templatesOf } from './synthesized.ts';

let statements: Statement[];

beforeAll(() => {
  const { app } = appWith({ stage: 'prod' });
  const templates = [...templatesOf(app).values()];
  expect(templates.flatMap(managedPoliciesOf)).toEqual([]);
  statements = templates.flatMap(statementsOf);
});

/** Pairs of action and resource that a role is allowed. */
function allowed(role: string): string[] {
  const own = statements.filter(({ where }) => where.startsWith(`${role}/`));
  expect(own.map(({ effect }) => effect)).not.toContain('Deny');
  return own
    .flatMap(({ actions, resources }) =>
      actions.flatMap((action) => resources.map((one) => `${action} ${one}`)),
    )
    .sort();
}

/** The commands of the AWS SDK that an adapter imports. */
function commandsOf(file: string): string[] {
  const text = readFileSync(path.join(packageRoot(), file), 'utf8');
  return [...new Set([...text.matchAll(/\b([A-Z]\w+)Command\b/g)].map((match) => match[1] ?? ''))].sort();
}

describe('[D4] each function may do what it has to, and nothing else', () => {
  test('the API', () => {
    expect(allowed('ApiRole')).toEqual(
      [
        's3:GetObject <Bucket.Arn>/tenants/*',
        's3:GetObject <Bucket.Arn>/probe',
        's3:ListBucket <Bucket.Arn>',
        's3:PutObject <Bucket.Arn>/tenants/*/bundles/*',
        's3:PutObject <Bucket.Arn>/tenants/*/files/*',
        's3:PutObject <Bucket.Arn>/tenants/*/skills/*',
        's3:PutObject <Bucket.Arn>/tenants/*/upload-records/*',
        's3:PutObject <Bucket.Arn>/tenants/*/uploads/*',
        's3:PutObjectTagging <Bucket.Arn>/tenants/*/upload-records/*',
        's3:PutObjectTagging <Bucket.Arn>/tenants/*/uploads/*',
        'dynamodb:DeleteItem <Table.Arn>',
        'dynamodb:GetItem <Table.Arn>',
        'dynamodb:PutItem <Table.Arn>',
        'dynamodb:Query <Table.Arn>',
        'dynamodb:UpdateItem <Table.Arn>',
        'logs:CreateLogStream <ApiLogs.Arn>',
        'logs:PutLogEvents <ApiLogs.Arn>',
      ].sort(),
    );
  });

  test('the indexer: nothing of the table, so no session can be read, and no place where callers upload', () => {
    expect(allowed('IndexerRole')).toEqual(
      [
        's3:GetObject <Bucket.Arn>/tenants/*',
        's3:ListBucket <Bucket.Arn>',
        's3:PutObject <Bucket.Arn>/tenants/*/bundles/*',
        's3:PutObject <Bucket.Arn>/tenants/*/files/*',
        's3:PutObject <Bucket.Arn>/tenants/*/skills/*',
        's3:PutObject <Bucket.Arn>/tenants/*/upload-records/*',
        's3:PutObjectTagging <Bucket.Arn>/tenants/*/upload-records/*',
        'sqs:DeleteMessage <Uploads.Arn>',
        'sqs:GetQueueAttributes <Uploads.Arn>',
        'sqs:ReceiveMessage <Uploads.Arn>',
        'logs:CreateLogStream <IndexerLogs.Arn>',
        'logs:PutLogEvents <IndexerLogs.Arn>',
      ].sort(),
    );
  });

  test('the function at the edge: nothing at all', () => {
    expect(allowed('HashBodyRole')).toEqual([]);
  });

  test('what the adapters send is allowed, and no more of the table', () => {
    const api = allowed('ApiRole').map((pair) => pair.split(' ')[0] ?? '');
    const actions = (prefix: string): string[] =>
      [...new Set(api.filter((one) => one.startsWith(prefix)))].sort();
    expect(actions('dynamodb:')).toEqual(
      commandsOf('src/storage/table.ts').map((name) => `dynamodb:${name}`),
    );
    // HeadObject is allowed by s3:GetObject.
    expect(commandsOf('src/storage/s3.ts')).toEqual([
      'GetObject',
      'HeadObject',
      'ListObjectsV2',
      'PutObject',
    ]);
    expect(api).not.toContain('s3:DeleteObject');
  });

  test('only our distribution calls the URL, with both permissions that this takes since October 2025', () => {
    const callers = statements.filter(({ actions }) =>
      actions.some((action) => action.startsWith('lambda:')),
    );
    expect(callers.map(({ actions, principals, resources }) => [actions, principals, resources])).toEqual(
      ['lambda:InvokeFunctionUrl', 'lambda:InvokeFunction'].map((action) => [
        [action],
        ['cloudfront.amazonaws.com'],
        [
          '<ApiFunctionUrl.FunctionArn>',
          'arn:<AWS::Partition>:cloudfront::<AWS::AccountId>:distribution/<Distribution>',
        ],
      ]),
    );
  });
});
