import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';

/** What a publication consists of; the tenant comes before it in every key (src/core/manifest/object-keys.ts). */
const PUBLICATION = ['files', 'skills', 'bundles', 'upload-records'];

/** Nobody may delete an object: what passes is deleted by the bucket's lifecycle. */
export function apiPermissions(bucket: IBucket, table: Pick<ITable, 'tableArn'>): PolicyStatement[] {
  return [
    allow(['s3:GetObject'], [bucket.arnForObjects('tenants/*'), bucket.arnForObjects('probe')]),
    listing(bucket),
    // `uploads` too: a presigned URL may do what its signer may.
    allow(['s3:PutObject'], below(bucket, [...PUBLICATION, 'uploads'])),
    allow(['s3:PutObjectTagging'], below(bucket, ['upload-records', 'uploads'])),
    allow(TABLE_ACTIONS, [table.tableArn]),
  ];
}

/** Nothing of the table, so that nobody's session can be read here, and no writing where callers upload. */
export function indexerPermissions(bucket: IBucket, queue: IQueue): PolicyStatement[] {
  return [
    allow(['s3:GetObject'], [bucket.arnForObjects('tenants/*')]),
    listing(bucket),
    allow(['s3:PutObject'], below(bucket, PUBLICATION)),
    allow(['s3:PutObjectTagging'], below(bucket, ['upload-records'])),
    // What Lambda's poller needs (Lambda developer guide, "Using Lambda with Amazon SQS").
    allow(['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes'], [queue.queueArn]),
  ];
}

/** Its own log group, which the stack has made; the ARN of a log group ends in `:*`, its streams. */
export function logPermissions(logGroup: ILogGroup): PolicyStatement {
  return allow(['logs:CreateLogStream', 'logs:PutLogEvents'], [logGroup.logGroupArn]);
}

/** What src/storage/table.ts sends. */
const TABLE_ACTIONS = ['GetItem', 'PutItem', 'UpdateItem', 'DeleteItem', 'Query'].map(
  (action) => `dynamodb:${action}`,
);

/**
 * Without it S3 answers 403 for an object that is not there, which is no "absent" to src/storage/s3.ts. No condition on
 * the prefix: reading a missing object carries none.
 */
const listing = (bucket: IBucket): PolicyStatement => allow(['s3:ListBucket'], [bucket.bucketArn]);

const below = (bucket: IBucket, folders: readonly string[]): string[] =>
  folders.map((folder) => bucket.arnForObjects(`tenants/*/${folder}/*`));

const allow = (actions: string[], resources: string[]): PolicyStatement =>
  new PolicyStatement({ actions, resources });
