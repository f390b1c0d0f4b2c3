import type { Hono } from 'hono';
import { vi } from 'vitest';
import type { HttpEvent } from '../../src/http/lambda-event.ts';
import { lambdaHandler, streamingHandler } from '../../src/http/lambda.ts';
import type { AppEnv } from '../../src/http/route.ts';
import type { LambdaResult, WireAnswer } from './lambda-answer.ts';
import { wireAnswerOf } from './lambda-answer.ts';
import type { EventSource, WireRequest } from './lambda-event.ts';
import { eventOf } from './lambda-event.ts';
import type { StreamedAnswer } from './lambda-runtime.ts';
import { invokeStreaming, streamingRuntime } from './lambda-runtime.ts';

/** From a client's request to its answer, by way of an event and the real handler. */
export interface Transport {
  readonly name: string;
  readonly source: EventSource;
  /** Whether the answer comes as JSON with a body that is text or base64. */
  readonly isBuffered: boolean;
  readonly handlerOf: (app: Hono<AppEnv>) => (request: WireRequest | HttpEvent) => Promise<WireAnswer>;
}

export const TRANSPORTS: readonly Transport[] = [
  ...(['Function URL', 'HTTP API', 'REST API', 'ALB', 'ALB, multi-value'] as const).map(buffered),
  {
    name: 'Function URL, streaming',
    source: 'Function URL',
    isBuffered: false,
    handlerOf: streamed,
  },
];

/** The streaming handler of an app, as the runtime runs it. */
export function streamed(
  app: Hono<AppEnv>,
  options: { readonly breaksAfter?: number } = {},
): (request: WireRequest | HttpEvent) => Promise<StreamedAnswer> {
  vi.stubGlobal('awslambda', streamingRuntime);
  const handler = streamingHandler(app);
  vi.unstubAllGlobals();
  return (request) => invokeStreaming(handler, asEvent('Function URL', request), options);
}

function buffered(source: EventSource): Transport {
  return {
    name: source,
    source,
    isBuffered: true,
    handlerOf(app) {
      const handler = lambdaHandler(app);
      return async (request) => {
        // Through JSON, as Lambda passes it.
        const result = JSON.stringify(await handler(asEvent(source, request)));
        return wireAnswerOf(source, JSON.parse(result) as LambdaResult);
      };
    },
  };
}

function asEvent(source: EventSource, request: WireRequest | HttpEvent): HttpEvent {
  const event = 'target' in request ? eventOf[source](request) : request;
  return deepFrozen(JSON.parse(JSON.stringify(event)) as HttpEvent);
}

/** No handler may change an event: the runtime's loggers and tracers look at it too. */
function deepFrozen<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value;
  Object.values(value).forEach(deepFrozen);
  return Object.freeze(value);
}
