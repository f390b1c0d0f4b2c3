import { findingSchema } from '../core/manifest/manifest.ts';
import type { ErrorCode, ErrorKind } from '../core/errors.ts';
import { ERRORS, SkillError } from '../core/errors.ts';
import { serviceKey, serviceUrl } from './endpoint.ts';
import type { Patience } from './patience.ts';
import { FinalError, patiently } from './patience.ts';
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

/** Far above what any answer has; what sends more is no service of ours. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

interface Answer {
  readonly response: Response;
  readonly text: string;
}

/** @throws UsageError when URL or key cannot be right; nothing was sent then */
export function serviceClient(options: {
  readonly url: string;
  readonly key: string;
  readonly patience: Patience;
  /** In place of the network. */
  readonly fetch?: (url: string, init: RequestInit) => Response | Promise<Response>;
}): ServiceClient {
  const base = serviceUrl(options.url);
  const key = serviceKey(options.key);
  const send = options.fetch ?? fetch;
  return {
    async request(method, path, schema, body) {
      const { response, text } = await patiently(
        options.patience,
        `${base} (${method} ${path})`,
        async (signal): Promise<Answer> => {
          try {
            const response = await send(`${base}${path}`, {
              method,
              headers: {
                authorization: `Bearer ${key}`,
                ...(body === undefined ? {} : { 'content-type': 'application/json' }),
              },
              ...(body === undefined ? {} : { body: JSON.stringify(body) }),
              signal,
              // A service does not send us elsewhere, and the key must not go there.
              redirect: 'manual',
            });
            return { response, text: await textOf(response, base) };
          } catch (error) {
            throw brokenOff(error, base);
          }
        },
      );
      const answer = parsed(text);
      if (!response.ok) throw refusalOf(response, answer, base);
      const checked = z.safeParse(schema, answer);
      if (!checked.success) throw notAService(response, base);
      return checked.data;
    },
  };
}

/** @throws FinalError when it does not end */
async function textOf(response: Response, base: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    length += chunk.length;
    // Leaving the loop cancels the rest.
    if (length > MAX_ANSWER_BYTES) {
      throw new FinalError('unavailable', {
        detail: `${base} answered more than ${MAX_ANSWER_BYTES} bytes.`,
      });
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** `fetch` wraps what went wrong on the line, before the answer and within it; anything else is an incident. */
function brokenOff(error: unknown, base: string): unknown {
  if (!(error instanceof TypeError && error.cause instanceof Error)) return error;
  return new SkillError('unavailable', {
    detail:
      error.message === 'fetch failed'
        ? `${new URL(base).origin} cannot be reached.`
        : `${new URL(base).origin} broke off its answer.`,
    cause: error.cause,
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** What answered, for a person who may have the wrong URL. */
function notAService({ status, headers }: Response, base: string): FinalError {
  const type = headers.get('content-type')?.split(';')[0] ?? 'without a content type';
  return new FinalError('unavailable', {
    detail: `${base} is not a Skillbucket service (answered ${status} ${type}). Is the URL right?`,
  });
}

function redirected({ status, headers }: Response, base: string): FinalError {
  const location = headers.get('location') ?? '';
  const target = URL.canParse(location, base) ? new URL(location, base).origin : 'elsewhere';
  return new FinalError('unavailable', {
    detail: `${base} redirects to ${target} (${status}), and the key is not sent there. If that is the service, give its URL.`,
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

function refusalOf(response: Response, answer: unknown, base: string): SkillError {
  const { status } = response;
  if (status >= 300 && status < 400) return redirected(response, base);
  const kind = KIND[status] ?? 'unavailable';
  const problem = z.safeParse(problemSchema, answer);
  if (problem.success) {
    const { code, detail, findings } = problem.data;
    // A newer service may have codes that this command does not know.
    const known = Object.hasOwn(ERRORS, code) ? (code as ErrorCode) : 'unavailable';
    return new SkillError(known, { detail, findings, kind });
  }
  // What stands before a service answers so for a service that is away.
  if (status >= 500 || status === 429) {
    return new SkillError('unavailable', { detail: `${base} answered ${status}.`, kind });
  }
  return notAService(response, base);
}
