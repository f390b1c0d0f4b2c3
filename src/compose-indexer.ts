import { s3Store } from './aws-clients.ts';
import type { Config } from './config.ts';
import { SkillError } from './core/errors.ts';
import { indexer } from './events/indexer.ts';
import type { BatchAnswer } from './events/queue-handler.ts';
import { queueHandler } from './events/queue-handler.ts';
import type { Logger } from './log.ts';

/**
 * What a function on the queue of uploads does. Apart from the service, so that neither function carries the other.
 *
 * @throws SkillError invalid_request when no bucket is configured
 */
export function composeIndexer(config: Config, logger: Logger): (event: unknown) => Promise<BatchAnswer> {
  const { bucket } = config;
  if (bucket === undefined) throw new SkillError('invalid_request', { detail: 'Set SKILLBUCKET_BUCKET.' });
  const index = indexer({ objects: s3Store(bucket, config), logger, now: () => new Date() });
  return queueHandler({ index, bucket, logger });
}
