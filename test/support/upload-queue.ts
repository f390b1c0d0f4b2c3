import { EventBridgeClient, PutRuleCommand, PutTargetsCommand } from '@aws-sdk/client-eventbridge';
import { PutBucketNotificationConfigurationCommand } from '@aws-sdk/client-s3';
import {
  CreateQueueCommand,
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { expect } from 'vitest';
import type { EmulatedAws } from './emulated-aws.ts';

/** An event source mapping hands over no more than this at once, by default. */
const BATCH = 10;
/** SQS's longest wait for a message. */
const WAIT_SECONDS = 20;

/** A queue as Lambda would read it. */
export interface UploadQueue {
  /** Waits for messages and answers them as an event of a function; they are gone from the queue then. */
  nextBatch(): Promise<{ readonly Records: readonly { messageId: string; body: string }[] }>;
}

/** The way of an upload's event on AWS: bucket → EventBridge → rule for the keys of uploads → queue. */
export async function uploadQueue({ s3, name }: EmulatedAws): Promise<UploadQueue> {
  const sqs = new SQSClient({});
  const events = new EventBridgeClient({});
  const { QueueUrl = '' } = await sqs.send(new CreateQueueCommand({ QueueName: name }));
  const asked = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['QueueArn'] });
  const { QueueArn: Arn = '' } = (await sqs.send(asked)).Attributes ?? {};
  await s3.send(
    new PutBucketNotificationConfigurationCommand({
      Bucket: name,
      NotificationConfiguration: { EventBridgeConfiguration: {} },
    }),
  );
  const pattern = {
    source: ['aws.s3'],
    'detail-type': ['Object Created'],
    detail: { bucket: { name: [name] }, object: { key: [{ wildcard: 'tenants/*/uploads/*' }] } },
  };
  await events.send(new PutRuleCommand({ Name: name, EventPattern: JSON.stringify(pattern) }));
  const targets = await events.send(new PutTargetsCommand({ Rule: name, Targets: [{ Id: 'queue', Arn }] }));
  expect(targets.FailedEntryCount).toBe(0);
  return {
    async nextBatch() {
      const { Messages = [] } = await sqs.send(
        new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: WAIT_SECONDS, MaxNumberOfMessages: BATCH }),
      );
      expect(Messages).not.toHaveLength(0);
      for (const { ReceiptHandle } of Messages) {
        await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
      }
      return {
        Records: Messages.map(({ MessageId = '', Body = '' }) => ({
          messageId: MessageId,
          body: Body,
          eventSource: 'aws:sqs',
          eventSourceARN: Arn,
        })),
      };
    },
  };
}
