import * as z from '../core/zod.ts';

/** What the indexer is told: an object of ours has arrived. */
export interface ArrivedObject {
  readonly bucket: string;
  readonly key: string;
}

const eventBridge = z.object({
  source: z.literal('aws.s3'),
  'detail-type': z.literal('Object Created'),
  detail: z.object({ bucket: z.object({ name: z.string() }), object: z.object({ key: z.string() }) }),
});
const notification = z.object({
  Records: z.array(
    z.object({
      eventSource: z.literal('aws:s3'),
      eventName: z.string(),
      s3: z.object({ bucket: z.object({ name: z.string() }), object: z.object({ key: z.string() }) }),
    }),
  ),
});
/** Sent once by S3 when notifications are switched on (S3 User Guide, "Amazon S3 test event"). */
const testEvent = z.object({ Service: z.literal('Amazon S3'), Event: z.literal('s3:TestEvent') });

/**
 * The objects that a message tells of: an event of EventBridge ("Object Created"), or a notification of the bucket
 * itself, whose keys are URL-encoded and EventBridge's are not (S3 User Guide, "Event message structure").
 *
 * @throws SyntaxError, TypeError for a message that is neither
 */
export function arrivedObjects(message: string): readonly ArrivedObject[] {
  const value: unknown = JSON.parse(message);
  const event = eventBridge.safeParse(value);
  if (event.success) {
    const { bucket, object } = event.data.detail;
    return [{ bucket: bucket.name, key: object.key }];
  }
  const notified = notification.safeParse(value);
  if (notified.success) {
    return notified.data.Records.filter((one) => one.eventName.startsWith('ObjectCreated:')).map(
      ({ s3 }) => ({
        bucket: s3.bucket.name,
        key: decodeURIComponent(s3.object.key.replaceAll('+', ' ')),
      }),
    );
  }
  if (testEvent.safeParse(value).success) return [];
  throw new TypeError('The message is neither an EventBridge event nor a notification of S3.');
}
