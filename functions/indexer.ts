import { composeIndexer } from '../src/compose-indexer.ts';
import { readConfig } from '../src/config.ts';
import { createLogger } from '../src/log.ts';

/** Publishes uploads as they arrive in the bucket. Client and configuration are made once a cold start. */
const config = readConfig(process.env);

export const handler = composeIndexer(config, createLogger(config.logLevel));
