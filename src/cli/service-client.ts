import { findingSchema } from '../core/manifest/manifest.ts';
import type { ErrorCode, ErrorKind } from '../core/errors.ts';
import { ERRORS, SkillError } from '../core/errors.ts';
import { serviceKey, serviceUrl } from './endpoint.ts';
import * as z from '../core/zod.ts';

/** A service, as the command talks to it: JSON in and out, refusals as they were told. */
export interface ServiceClient {
  /** @throws SkillError as the service refused; unavailable when it cannot be reached */
  request<Schema extends z.core.$ZodType>(
    method: 'GET' | 'POST' | 'PUT' | 'DELETE',
    path: string,
    schema: Schema,
    body?: unknown,
  ): Promise<z.infer<Schema>>;
}

const problemSchema = z.object({
  code: z.string(),
  detail: z.string(),
  findings: z._default(z.array(findingSchema), []),
});

/** Longer than the service itself may take. */
const TIMEOUT_MILLISECONDS = 90_000;

/** @throws UsageError when URL or key cannot be right; nothing was sent then */
export function serviceClient(options: {
  readonly url: string;
  readonly key: string;
  /** In place of the network. */
  readonly fetch?: (url: string, init: RequestInit) => Response | Promise<Response>;
}): ServiceClient {
  const base = serviceUrl(options.url);
  const key = serviceKey(options.key);
  return {
    async request(method, path, schema, body) {
      const response = await reach(options.fetch ?? fetch, `${base}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${key}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(TIMEOUT_MILLISECONDS),
        // A service does not send us elsewhere, and the key must not go there.
        redirect: 'error',
      });
      const text = await response.text();
      const answer = parsed(text);
      if (response.ok) return checkedAnswer(schema, answer, response.status, options.url);
      throw refusalOf(response, answer);
    },
  };
}

async function reach(
  send: (url: string, init: RequestInit) => Response | Promise<Response>,
  url: string,
  init: RequestInit,
): Promise<Response> {
  try {
    return await send(url, init);
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    throw new SkillError('unavailable', { detail: `${new URL(url).origin} cannot be reached.`, cause });
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function checkedAnswer<Schema extends z.core.$ZodType>(
  schema: Schema,
  answer: unknown,
  status: number,
  url: string,
): z.infer<Schema> {
  const checked = z.safeParse(schema, answer);
  if (checked.success) return checked.data;
  throw new SkillError('unavailable', {
    detail: `${url} answered ${status}, and not as a Skillbucket service does. Is the URL right?`,
    cause: checked.error,
  });
}

/** Statuses back to kinds, for the exit code. */
const KIND: Readonly<Partial<Record<number, ErrorKind>>> = {
  400: 'malformed',
  401: 'unauthenticated',
  403: 'forbidden',
  404: 'not_found',
  405: 'method',
  409: 'conflict',
  412: 'precondition',
  413: 'too_large',
  422: 'invalid',
  429: 'limited',
};

function refusalOf(response: Response, answer: unknown): SkillError {
  const kind = KIND[response.status] ?? 'unavailable';
  const problem = z.safeParse(problemSchema, answer);
  if (!problem.success || !(problem.data.code in ERRORS)) {
    return new SkillError('unavailable', { detail: `The service answered ${response.status}.`, kind });
  }
  const { code, detail, findings } = problem.data;
  return new SkillError(code as ErrorCode, { detail, findings, kind });
}
