import type { HttpEvent } from '../../src/http/lambda-event.ts';
import type { Caller } from './call.ts';
import { callerBy } from './call.ts';
import type { LambdaResult } from './lambda-answer.ts';

/** A request as a client sends it: the target still encoded, headers in order and repeatable. */
export interface WireRequest {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly headers?: readonly (readonly [name: string, value: string])[];
  readonly body?: string | Uint8Array;
  /** In place of what the event source would do with the body. */
  readonly isBase64Encoded?: boolean;
}

export type EventSource = 'Function URL' | 'HTTP API' | 'REST API' | 'ALB' | 'ALB, multi-value';

/** The event that a source makes of a request, after the examples and rules of AWS's developer guides. */
export const eventOf: Readonly<Record<EventSource, (request: WireRequest) => HttpEvent>> = {
  'Function URL': functionUrlEvent,
  'HTTP API': httpApiEvent,
  'REST API': restApiEvent,
  ALB: loadBalancerEvent,
  'ALB, multi-value': multiValueLoadBalancerEvent,
};

const SOURCE_IP = '198.51.100.7';
const USER_AGENT = 'agent/1.0 (+https://example.com)';
const TRACE = 'Root=1-5bdb40ca-556d8b0c50dc66f0511bf520';
const REQUEST_ID = 'e1506fd5-9e7b-434f-bd42-4f8fa224b599';

/** Format 2.0: the path as it was sent, no stage. */
function functionUrlEvent(request: WireRequest): HttpEvent {
  const { path } = partsOf(request);
  const apiId = 'abcdefghijklmnopqrstuvwxyz012345';
  return formatTwo(request, {
    rawPath: path,
    domainName: `${apiId}.lambda-url.eu-central-1.on.aws`,
    apiId,
    stage: '$default',
    routeKey: '$default',
    authorizer: undefined,
  });
}

/** Format 2.0: the path decoded, cut at what became a question mark, behind the stage unless that is `$default`. */
function httpApiEvent(request: WireRequest): HttpEvent {
  const decoded = decodeURIComponent(partsOf(request).path).split('?')[0] ?? '';
  return formatTwo(request, {
    rawPath: `/prod${decoded}`,
    domainName: 'a1b2c3d4e5.execute-api.eu-central-1.amazonaws.com',
    apiId: 'a1b2c3d4e5',
    stage: 'prod',
    routeKey: 'ANY /{proxy+}',
    authorizer: { jwt: { claims: { claim1: 'value1' }, scopes: null } },
    stageVariables: { environment: 'prod' },
    pathParameters: { proxy: decoded.slice(1) },
  });
}

function formatTwo(
  request: WireRequest,
  api: {
    rawPath: string;
    domainName: string;
    apiId: string;
    stage: string;
    routeKey: string;
    authorizer: object | undefined;
    stageVariables?: object;
    pathParameters?: object;
  },
): HttpEvent {
  const { rawPath, domainName, apiId, stage, routeKey, authorizer, ...optional } = api;
  const { query } = partsOf(request);
  const all = [...sentHeaders(request, domainName), ['x-forwarded-port', '443'] as const];
  const { cookie, ...headers } = lists(all.map(([name, value]) => [name.toLowerCase(), value]));
  const event = {
    version: '2.0',
    routeKey,
    rawPath,
    rawQueryString: query,
    ...(cookie && { cookies: cookie.flatMap((line) => line.split('; ')) }),
    headers: mapped(headers, (values) => values.join(',')),
    ...(query !== '' && {
      queryStringParameters: mapped(lists([...new URLSearchParams(query)]), (values) => values.join(',')),
    }),
    ...optional,
    requestContext: {
      accountId: '123456789012',
      apiId,
      authentication: null,
      ...(authorizer && { authorizer }),
      domainName,
      domainPrefix: domainName.split('.')[0],
      http: {
        method: request.method,
        path: rawPath,
        protocol: 'HTTP/1.1',
        sourceIp: SOURCE_IP,
        userAgent: USER_AGENT,
      },
      requestId: REQUEST_ID,
      routeKey,
      stage,
      time: '01/Dec/2026:03:43:13 +0000',
      timeEpoch: 1_796_096_593_000,
    },
    ...bodyOf(request, !isText(request)),
  };
  return event;
}

/** Format 1.0 of a REST API for which all media types are binary: names as sent, both forms, query decoded. */
function restApiEvent(request: WireRequest): HttpEvent {
  const { path, query } = partsOf(request);
  const domainName = 'f6g7h8i9j0.execute-api.eu-central-1.amazonaws.com';
  const headers = lists(
    sentHeaders(request, domainName).map(([name, value]) => [
      name.replaceAll(/(?<=^|-)[a-z]/g, (letter) => letter.toUpperCase()),
      value,
    ]),
  );
  const parameters = query === '' ? undefined : lists([...new URLSearchParams(query)]);
  const event = {
    resource: '/{proxy+}',
    path,
    httpMethod: request.method,
    headers: mapped(headers, lastOf),
    multiValueHeaders: headers,
    queryStringParameters: parameters === undefined ? null : mapped(parameters, lastOf),
    multiValueQueryStringParameters: parameters ?? null,
    pathParameters: { proxy: path.slice(1) },
    stageVariables: { environment: 'prod' },
    requestContext: {
      resourceId: '2gxmpl',
      resourcePath: '/{proxy+}',
      httpMethod: request.method,
      extendedRequestId: 'JJbxmplHYosFVYQ=',
      requestTime: '01/Dec/2026:03:43:13 +0000',
      path: `/prod${path}`,
      accountId: '123456789012',
      protocol: 'HTTP/1.1',
      stage: 'prod',
      domainPrefix: 'f6g7h8i9j0',
      requestTimeEpoch: 1_796_096_593_000,
      requestId: REQUEST_ID,
      identity: {
        cognitoIdentityPoolId: null,
        accountId: null,
        caller: null,
        sourceIp: SOURCE_IP,
        accessKey: null,
        userAgent: USER_AGENT,
        user: null,
      },
      domainName,
      apiId: 'f6g7h8i9j0',
    },
    ...(request.body === undefined ? { body: null, isBase64Encoded: false } : bodyOf(request, true)),
  };
  return event;
}

/** As it comes without multi-value headers: the last of each, query values still encoded. */
function loadBalancerEvent(request: WireRequest): HttpEvent {
  const { headers, parameters, ...common } = loadBalancer(request);
  const event = {
    ...common,
    queryStringParameters: mapped(parameters, lastOf),
    headers: mapped(headers, lastOf),
  };
  return event;
}

function multiValueLoadBalancerEvent(request: WireRequest): HttpEvent {
  const { headers, parameters, ...common } = loadBalancer(request);
  const event = {
    ...common,
    multiValueQueryStringParameters: parameters,
    multiValueHeaders: headers,
  };
  return event;
}

function loadBalancer(request: WireRequest) {
  const { path, query } = partsOf(request);
  const pairs = query.split('&').map((pair): [string, string] => {
    const [name = '', ...value] = pair.split('=');
    return [name, value.join('=')];
  });
  const sent = sentHeaders(request, 'lambda-846800462.eu-central-1.elb.amazonaws.com');
  return {
    requestContext: {
      elb: {
        targetGroupArn:
          'arn:aws:elasticloadbalancing:eu-central-1:123456789012:targetgroup/skills/6d0ecf831eec9f09',
      },
    },
    httpMethod: request.method,
    path,
    headers: lists(sent.map(([name, value]) => [name.toLowerCase(), value])),
    parameters: query === '' ? {} : lists(pairs),
    ...(request.body === undefined
      ? { body: '', isBase64Encoded: false }
      : bodyOf(request, !isText(request))),
  };
}

export type Invoke = (
  method: string,
  path: string,
  body?: Uint8Array | string,
  headers?: Record<string, string>,
) => Promise<LambdaResult & { readonly headers: Readonly<Record<string, string>> }>;

/** Calls a handler with Function URL events. */
export function invoker(handler: unknown, key: string): Invoke {
  const invoke = handler as (event: unknown, context: unknown) => ReturnType<Invoke>;
  return (method, target, body, headers = {}) =>
    invoke(
      functionUrlEvent({
        method,
        target,
        headers: Object.entries({ authorization: `Bearer ${key}`, ...headers }),
        ...(body !== undefined && { body }),
      }),
      {},
    );
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

function partsOf({ target }: WireRequest): { path: string; query: string } {
  const [path = '', ...query] = target.split('?');
  return { path, query: query.join('?') };
}

function sentHeaders(request: WireRequest, host: string): (readonly [string, string])[] {
  return [
    ['host', host],
    ['user-agent', USER_AGENT],
    ['x-amzn-trace-id', TRACE],
    ['x-forwarded-for', SOURCE_IP],
    ['x-forwarded-proto', 'https'],
    ...(request.headers ?? []),
  ];
}

function bodyOf(
  { body, isBase64Encoded }: WireRequest,
  encode: boolean,
): { body?: string; isBase64Encoded: boolean } {
  if (body === undefined) return { isBase64Encoded: false };
  if (isBase64Encoded !== undefined) return { body: String(body), isBase64Encoded };
  return { body: Buffer.from(body).toString(encode ? 'base64' : 'utf8'), isBase64Encoded: encode };
}

/** The types whose bodies pass as text. */
function isText(request: WireRequest): boolean {
  const type = request.headers?.find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? '';
  return /^(?:text\/|application\/(?:json|javascript|xml))/.test(type);
}

function lists(pairs: readonly (readonly [string, string])[]): Record<string, string[]> {
  const all: Record<string, string[]> = {};
  for (const [name, value] of pairs) (all[name] ??= []).push(value);
  return all;
}

function mapped<In, Out>(record: Readonly<Record<string, In>>, of: (value: In) => Out): Record<string, Out> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, of(value)]));
}

const lastOf = (values: readonly string[]): string => values.at(-1) ?? '';
