import { composeAws } from '../src/compose.ts';
import { readConfig } from '../src/config.ts';
import { lambdaHandler } from '../src/http/lambda.ts';
import { createLogger } from '../src/log.ts';

/** The API on Lambda. Clients and configuration are made once a cold start; nothing of a caller is kept. */
const config = readConfig(process.env);

export const handler = lambdaHandler(await composeAws(config, createLogger(config.logLevel)));
