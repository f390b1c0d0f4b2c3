/* eslint-disable @typescript-eslint/no-deprecated -- the adapter's successor for hono v5 is not published yet */
import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Hono } from 'hono';
import { handle } from 'hono/aws-lambda';
import type { APIGatewayProxyResult, LambdaContext, LambdaEvent } from 'hono/aws-lambda';
import { SkillError } from '../core/errors.ts';
import { isLoadBalancer, prepareEvent } from './lambda-event.ts';
import type { HttpEvent } from './lambda-event.ts';
import { asSkillError, problemResponse } from './problem.ts';
import type { AppEnv } from './route.ts';

/** What our text answers are; anything else leaves a function in base64, so that no byte is mangled as text. */
const TEXT = /^(?:text\/(?:plain|markdown)|application\/(?:json|problem\+json))\s*(?:;|$)/;
const OPTIONS = { isContentTypeBinary: (contentType: string) => !TEXT.test(contentType) };

/** The service as a Lambda handler, for Function URLs, API Gateway (REST and HTTP) and load balancers alike (D2). */
export function lambdaHandler(app: Hono<AppEnv>) {
  const reached = new WeakSet();
  const serve = handle(
    appOf((request, env) => {
      reached.add(env.event);
      return answer(app, request, env);
    }),
    OPTIONS,
  );
  return async (event: HttpEvent, context?: LambdaContext): Promise<APIGatewayProxyResult> => {
    const prepared = prepareEvent(event);
    const result = await serve(prepared as LambdaEvent, context);
    const told = reached.has(prepared) ? result : await asResult(unreadable(), result);
    if (isLoadBalancer(event)) told.statusDescription = statusLine(told.statusCode);
    return told;
  };
}

/** What the runtime of Lambda puts into the global scope of a function. */
interface StreamingRuntime {
  streamifyResponse(handler: StreamingHandler): StreamingHandler;
  readonly HttpResponseStream: {
    from(stream: Writable, prelude: { statusCode: number; headers: object; cookies: string[] }): Writable;
  };
}
type StreamingHandler = (event: HttpEvent, stream: Writable, context?: LambdaContext) => Promise<void>;

/**
 * The service as a handler that streams, for Function URLs with `InvokeMode: RESPONSE_STREAM`: no base64, and up to
 * 200 MB in place of 6. Hono reads the event; its `streamHandle` is not used, as it answers 200 to what is no request,
 * loses status and headers of an empty body, and breaks the runtime's connection when a body fails half-way.
 */
export function streamingHandler(app: Hono<AppEnv>): StreamingHandler {
  // The AWS SDK leaves an empty `awslambda` wherever it runs.
  const runtime = (globalThis as { awslambda?: Partial<StreamingRuntime> }).awslambda;
  if (!isStreaming(runtime)) {
    return () => Promise.reject(new Error('Streaming needs the `awslambda` of the Lambda runtime.'));
  }
  const answers = new WeakMap<object, Response>();
  const read = handle(
    appOf(async (request, env) => {
      answers.set(env.event, await answer(app, request, env));
      return new Response();
    }),
  );
  return runtime.streamifyResponse(async (event, stream, context) => {
    const prepared = prepareEvent(event);
    await read(prepared as LambdaEvent, context);
    const response = answers.get(prepared) ?? unreadable();
    const output = runtime.HttpResponseStream.from(stream, preludeOf(response));
    // The runtime sends the prelude with the first write, and an empty body has none of its own.
    output.write('');
    // Not destroyed when the body fails: the runtime then tells in a trailer that the answer is not whole.
    if (response.body !== null) await pipeline(response.body, output, { end: false });
    output.end();
  });
}

/** Without a length: what is streamed is chunked, which excludes one (RFC 9112, 6.2). */
function preludeOf(response: Response) {
  const headers = [...response.headers].filter(([name]) => !['set-cookie', 'content-length'].includes(name));
  return {
    statusCode: response.status,
    headers: Object.fromEntries(headers),
    cookies: response.headers.getSetCookie(),
  };
}

function isStreaming(runtime: Partial<StreamingRuntime> | undefined): runtime is StreamingRuntime {
  return runtime?.streamifyResponse !== undefined && runtime.HttpResponseStream !== undefined;
}

interface LambdaEnv {
  readonly event: object;
}

/** Hono's adapter asks nothing of an app but `fetch`. */
function appOf(fetch: (request: Request, env: LambdaEnv) => Promise<Response>): Hono {
  const app = new Hono();
  app.fetch = (request, env) => fetch(request, env as LambdaEnv);
  return app;
}

/** Hono's apps let pass what is thrown and is no Error; here it would fail the function in place of the request. */
async function answer(app: Hono<AppEnv>, request: Request, env: LambdaEnv): Promise<Response> {
  try {
    const response = await app.fetch(request, env);
    // The adapter would send it as text, and a Function URL as JSON.
    if (response.body !== null && !response.headers.has('content-type')) {
      response.headers.set('content-type', 'application/octet-stream');
    }
    return response;
  } catch (error) {
    console.error('request failed', error);
    return problem(asSkillError(error));
  }
}

/** For an event that no request can be made of, as base64 that is none; the adapter's own answer is no problem body. */
function unreadable(): Response {
  const detail = 'The request cannot be read.';
  return problem(new SkillError('invalid_request', { detail, kind: 'malformed' }));
}

function problem(error: SkillError): Response {
  const requestId = randomUUID();
  return problemResponse({ get: () => requestId }, error);
}

/** A text answer in the form that the event source wants, which is the form of `like`. */
async function asResult(response: Response, like: APIGatewayProxyResult): Promise<APIGatewayProxyResult> {
  const headers = [...response.headers];
  const rest = { statusCode: response.status, body: await response.text(), isBase64Encoded: false };
  if (like.multiValueHeaders === undefined) return { ...rest, headers: Object.fromEntries(headers) };
  return {
    ...rest,
    multiValueHeaders: Object.fromEntries(headers.map(([name, value]) => [name, [value]])),
  };
}

const statusLine = (status: number): string => `${status} ${STATUS_CODES[status] ?? ''}`.trim();
