import { composeAws } from '../src/compose.ts';
import { readConfig } from '../src/config.ts';
import { lambdaHandler, streamingHandler } from '../src/http/lambda.ts';
import { createLogger } from '../src/log.ts';

/** The API on Lambda. Clients and configuration are made once a cold start; nothing of a caller is kept. */
const config = readConfig(process.env);

const app = await composeAws(config, createLogger(config.logLevel));

/** For every event source. */
export const handler = lambdaHandler(app);
/** For a Function URL with `InvokeMode: RESPONSE_STREAM`. */
export const streaming = streamingHandler(app);
