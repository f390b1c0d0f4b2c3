import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { EventSourceMapping } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { indexerPermissions } from './permissions.ts';
import { serviceFunction } from './service-function.ts';
import type { Settings } from './settings.ts';
import type { Storage } from './storage.ts';
import type { Uploads } from './uploads.ts';
import { INDEXER_TIMEOUT } from './uploads.ts';

export function indexer(
  scope: Construct,
  settings: Settings,
  storage: Pick<Storage, 'bucket'>,
  uploads: Pick<Uploads, 'queue'>,
  code: string,
): LambdaFunction {
  const made = serviceFunction(scope, 'Indexer', settings, {
    description: 'publishes what was uploaded',
    code,
    handler: 'index.handler',
    // One whole processor, since unpacking and hashing is all it does.
    memorySize: 1769,
    // Five archives with 2,000 files each are written well within it.
    timeout: INDEXER_TIMEOUT,
    environment: { SKILLBUCKET_BUCKET: storage.bucket.bucketName },
    permissions: indexerPermissions(storage.bucket, uploads.queue),
  });
  // Not `addEventSource`, which grants more than the poller uses.
  new EventSourceMapping(scope, 'IndexerSource', {
    target: made,
    eventSourceArn: uploads.queue.queueArn,
    batchSize: 5,
    // One upload that fails is tried again alone.
    reportBatchItemFailures: true,
    // Publishers of one bundle contend for its manifest; more at once would only lose more races.
    maxConcurrency: 5,
  });
  return made;
}
