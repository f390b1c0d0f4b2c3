import type { Hono } from 'hono';
import { handle } from 'hono/aws-lambda';
import type { AppEnv } from './route.ts';

/** What our text answers are; anything else leaves a function in base64, so that no byte is mangled as text. */
const TEXT = /^(?:text\/(?:plain|markdown)|application\/(?:json|problem\+json))\s*(?:;|$)/;

/** The service as a Lambda handler, for Function URLs, API Gateway (REST and HTTP) and load balancers alike (D2). */
export function lambdaHandler(app: Hono<AppEnv>) {
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- its successor for hono v5 is not published yet
  return handle(app, { isContentTypeBinary: (contentType) => !TEXT.test(contentType) });
}
