/** An event of a Function URL, an HTTP API (format 2.0), a REST API or a load balancer, as far as it is read here. */
export interface HttpEvent {
  readonly requestContext: {
    /** Of load balancers alone. */
    readonly elb?: unknown;
    /** Of format 2.0 alone. */
    readonly http?: { readonly method: string };
    readonly stage?: string;
    readonly domainName?: string;
  };
  readonly httpMethod?: string;
  readonly rawPath?: string;
  readonly headers?: Readonly<Record<string, string | undefined>> | null;
  readonly multiValueHeaders?: Readonly<Record<string, readonly string[] | undefined>> | null;
  readonly body?: string | null;
}

/** CloudFront signs what it sends to its origin in `Authorization`, so the stack moves the caller's credential here. */
const MOVED_CREDENTIAL = 'x-skillbucket-authorization';

export const isLoadBalancer = (event: HttpEvent): boolean => event.requestContext.elb !== undefined;

/** The event that was meant: what the event source did to the request undone where it can be. The given one stays. */
export function prepareEvent<Event extends HttpEvent>(event: Event): Event {
  return [withCredential, withListedHeaders, withEncodedPath, withoutIdleBody].reduce(
    (current, step) => ({ ...current, ...step(current) }),
    event,
  );
}

/** The moved credential is the only one, also when it is empty: what is in `Authorization` then is CloudFront's. */
function withCredential({ headers, multiValueHeaders }: HttpEvent): Partial<HttpEvent> {
  const moved =
    valueOf(multiValueHeaders, MOVED_CREDENTIAL) ?? [valueOf(headers, MOVED_CREDENTIAL) ?? []].flat();
  if (moved.length === 0) return {};
  return {
    ...(headers && { headers: { ...withoutCredentials(headers), authorization: moved.join(', ') } }),
    ...(multiValueHeaders && {
      multiValueHeaders: { ...withoutCredentials(multiValueHeaders), authorization: moved },
    }),
  };
}

/** Hono joins a load balancer's repeated headers with semicolons; lists have commas (RFC 9110, 5.3). */
function withListedHeaders(event: HttpEvent): Partial<HttpEvent> {
  if (!isLoadBalancer(event) || !event.multiValueHeaders) return {};
  const joined = Object.entries(event.multiValueHeaders).map(([name, values = []]) => [
    name,
    [values.join(name.toLowerCase() === 'cookie' ? '; ' : ', ')],
  ]);
  return { multiValueHeaders: Object.fromEntries(joined) as Record<string, string[]> };
}

/**
 * An HTTP API decodes the path and puts the name of its stage before it; Function URLs do neither. What it decoded to a
 * slash or a question mark is lost.
 */
function withEncodedPath({ rawPath, requestContext: { stage = '$default', domainName = '' } }: HttpEvent) {
  if (rawPath === undefined || domainName.includes('.lambda-url.')) return {};
  const prefix = `/${stage}`;
  const path = `${rawPath}/`.startsWith(`${prefix}/`) ? rawPath.slice(prefix.length) : rawPath;
  return { rawPath: path === '' ? '/' : path.split('/').map(encodeURIComponent).join('/') };
}

/** Some clients send a body with GET, which means nothing (RFC 9110, 9.3.1), and no `Request` can be made of it. */
function withoutIdleBody({ requestContext, httpMethod }: HttpEvent): Partial<HttpEvent> {
  return /^(?:GET|HEAD)$/i.test(requestContext.http?.method ?? httpMethod ?? 'GET') ? { body: null } : {};
}

function valueOf<Value>(
  headers: Readonly<Record<string, Value>> | null | undefined,
  name: string,
): Value | undefined {
  return Object.entries(headers ?? {}).find(([key]) => key.toLowerCase() === name)?.[1];
}

function withoutCredentials<Value>(headers: Readonly<Record<string, Value>>): Record<string, Value> {
  return Object.fromEntries(
    Object.entries(headers).filter(
      ([name]) => !['authorization', MOVED_CREDENTIAL].includes(name.toLowerCase()),
    ),
  );
}
