import type { Caller } from './call.ts';
import { callerBy } from './call.ts';

/** What a function answers, as far as tests look at it. */
export interface LambdaResult {
  readonly statusCode: number;
  readonly headers: Record<string, string>;
  readonly body: string;
  readonly isBase64Encoded: boolean;
}

export type Invoke = (
  method: string,
  path: string,
  body?: Uint8Array | string,
  headers?: Record<string, string>,
) => Promise<LambdaResult>;

/** Calls a handler with Function URL events (payload format 2.0): bodies come in base64. */
export function invoker(handler: unknown, key: string): Invoke {
  const invoke = handler as (event: unknown, context: unknown) => Promise<LambdaResult>;
  return (method, path, body, headers = {}) => {
    const [rawPath = '', rawQueryString = ''] = path.split('?');
    return invoke(
      {
        version: '2.0',
        routeKey: '$default',
        rawPath,
        rawQueryString,
        headers: { host: 'x.lambda-url.example', authorization: `Bearer ${key}`, ...headers },
        requestContext: { http: { method, path: rawPath }, domainName: 'x.lambda-url.example' },
        body: body === undefined ? null : Buffer.from(body).toString('base64'),
        isBase64Encoded: body !== undefined,
      },
      {},
    );
  };
}

/** The same as a client of the API, for tests that run in front of an app as well. */
export function functionCaller(handler: unknown, key: string): Caller {
  const invoke = invoker(handler, key);
  return callerBy(async (path, init) => {
    const body =
      init.body === undefined ? undefined : new Uint8Array(await new Response(init.body).arrayBuffer());
    const headers = Object.fromEntries(new Headers(init.headers));
    const answer = await invoke(init.method ?? 'GET', path, body, headers);
    const bytes = Buffer.from(answer.body, answer.isBase64Encoded ? 'base64' : 'utf8');
    const isEmpty = [204, 304].includes(answer.statusCode);
    return new Response(isEmpty ? null : bytes, { status: answer.statusCode, headers: answer.headers });
  });
}
