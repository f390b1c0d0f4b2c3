import type { Logger } from '../log.ts';
import type { Index } from './indexer.ts';
import { arrivedObjects } from './upload-events.ts';
import * as z from '../core/zod.ts';

const batchSchema = z.object({ Records: z.array(z.object({ messageId: z.string(), body: z.string() })) });

/** Which messages the queue is to deliver again (Lambda, "Reporting batch item failures"). */
export interface BatchAnswer {
  readonly batchItemFailures: readonly { readonly itemIdentifier: string }[];
}

/**
 * The indexer as a Lambda handler on a queue. A message that fails is delivered again by itself and ends in the
 * dead-letter queue; the others of its batch are done.
 *
 * @param bucket the only bucket whose events are ours
 */
export function queueHandler(parts: {
  readonly index: Index;
  readonly bucket: string;
  readonly logger: Logger;
}): (event: unknown) => Promise<BatchAnswer> {
  return async (event) => {
    const failures: { itemIdentifier: string }[] = [];
    // One after the other: each may hold an archive in memory.
    for (const { messageId, body } of batchSchema.parse(event).Records) {
      try {
        for (const { bucket, key } of arrivedObjects(body)) {
          if (bucket === parts.bucket) await parts.index(key);
          else parts.logger.warn({ bucket }, 'event of another bucket');
        }
      } catch (error) {
        parts.logger.error({ message_id: messageId, err: error }, 'event failed');
        failures.push({ itemIdentifier: messageId });
      }
    }
    return { batchItemFailures: failures };
  };
}
