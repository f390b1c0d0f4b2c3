import type { ErrorKind } from '../core/errors.ts';
import { SkillError } from '../core/errors.ts';

/** Kinds to HTTP, in one place (contract, "Errors"). */
const STATUS: Readonly<Record<ErrorKind, number>> = {
  malformed: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  method: 405,
  conflict: 409,
  precondition: 412,
  too_large: 413,
  range: 416,
  invalid: 422,
  limited: 429,
  internal: 500,
  unavailable: 503,
};

const RETRY_AFTER_SECONDS = 2;

/** RFC 9457. Says nothing of what went wrong inside. */
export function problemResponse(context: { get(key: 'requestId'): string }, error: SkillError): Response {
  const status = STATUS[error.kind];
  const body = JSON.stringify(problemBody(error, context.get('requestId')));
  const headers = new Headers({
    'content-type': 'application/problem+json',
    'content-length': String(Buffer.byteLength(body, 'utf8')),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'x-request-id': context.get('requestId'),
  });
  if (status === 401) headers.set('www-authenticate', 'Bearer realm="skillbucket"');
  if (status === 429 || status === 503) {
    headers.set('retry-after', String(error.retryAfterSeconds ?? RETRY_AFTER_SECONDS));
  }
  if (status === 416) headers.set('content-range', `bytes */${error.facts['size'] ?? '*'}`);
  if (error.facts['allow'] !== undefined) headers.set('allow', String(error.facts['allow']));
  return new Response(body, { status, headers });
}

/** The document itself, which a record of an upload can hold too. */
export function problemBody(error: SkillError, requestId: string): object {
  return {
    type: `urn:skillbucket:error:${error.code}`,
    title: error.title,
    status: STATUS[error.kind],
    detail: error.message,
    code: error.code,
    fix: error.fix,
    request_id: requestId,
    ...error.facts,
    ...(error.findings.length === 0 ? {} : { findings: error.findings }),
  };
}

/** What was thrown, as a refusal: anything unexpected is ours, and told as `internal`. */
export function asSkillError(error: unknown): SkillError {
  return error instanceof SkillError ? error : new SkillError('internal', { cause: error });
}
