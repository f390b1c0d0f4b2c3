import { Duration } from 'aws-cdk-lib';
import { Match, Rule } from 'aws-cdk-lib/aws-events';
import { SqsQueue } from 'aws-cdk-lib/aws-events-targets';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';

/** The way of an upload from the bucket to the indexer. */
export interface Uploads {
  readonly queue: Queue;
  /** Uploads that the indexer could not handle, each tried five times. */
  readonly failed: Queue;
  /** Events that could not be put into the queue. */
  readonly undelivered: Queue;
}

export const INDEXER_TIMEOUT = Duration.minutes(5);

export function uploads(scope: Construct, bucket: IBucket): Uploads {
  const failed = new Queue(scope, 'UploadsFailed', KEPT);
  const undelivered = new Queue(scope, 'UploadsUndelivered', KEPT);
  const queue = new Queue(scope, 'Uploads', {
    ...KEPT,
    // Six times the function's timeout, as Lambda recommends: a throttled poller tries again before it gives up.
    visibilityTimeout: Duration.minutes(6 * INDEXER_TIMEOUT.toMinutes()),
    deadLetterQueue: { queue: failed, maxReceiveCount: 5 },
  });
  const rule = new Rule(scope, 'UploadsRule', {
    description: 'Archives that callers uploaded go to the indexer',
    eventPattern: {
      source: ['aws.s3'],
      detailType: ['Object Created'],
      detail: {
        bucket: { name: [bucket.bucketName] },
        object: { key: Match.wildcard('tenants/*/uploads/*') },
      },
    },
  });
  rule.addTarget(
    new SqsQueue(queue, {
      deadLetterQueue: undelivered,
      // An archive lives two days; later than one day there is no time left to repair what is wrong.
      maxEventAge: Duration.hours(24),
      retryAttempts: 185,
    }),
  );
  return { queue, failed, undelivered };
}

const KEPT = {
  encryption: QueueEncryption.SQS_MANAGED,
  enforceSSL: true,
  // The longest there is: a weekend must not lose what somebody has to look at.
  retentionPeriod: Duration.days(14),
} as const;
