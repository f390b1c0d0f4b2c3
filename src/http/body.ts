import { SkillError } from '../core/errors.ts';
import { decodeUtf8 } from '../core/format/utf8.ts';
import { MAX_JSON_BODY_BYTES } from '../core/limits.ts';
import type { AppContext } from './route.ts';
import * as z from '../core/zod.ts';

/**
 * The body's bytes, refused before they are read whole when they are more than allowed: by the declared length, and by
 * counting what really comes when none is declared.
 *
 * @throws SkillError payload_too_large, invalid_request when the caller breaks off
 */
export async function readBody(context: AppContext, limit: number): Promise<Uint8Array> {
  const declared = context.req.header('content-length');
  if (declared !== undefined && /^\d+$/.test(declared)) {
    if (Number(declared) > limit) throw tooLarge(limit);
    const bytes = await arrived(() => context.req.arrayBuffer());
    if (bytes.byteLength > limit) throw tooLarge(limit);
    return new Uint8Array(bytes);
  }
  const stream = context.req.raw.body as ReadableStream<Uint8Array> | null;
  if (stream === null) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let length = 0;
  const reader = stream.getReader();
  for (;;) {
    const { done, value } = await arrived(() => reader.read());
    if (done) return new Uint8Array(Buffer.concat(chunks));
    length += value.byteLength;
    if (length > limit) {
      await reader.cancel();
      throw tooLarge(limit);
    }
    chunks.push(value);
  }
}

/** A JSON body of a known shape. @throws SkillError invalid_request (malformed JSON is 400), payload_too_large */
export async function readJson<Schema extends z.core.$ZodType>(
  context: AppContext,
  schema: Schema,
): Promise<z.infer<Schema>> {
  return parsed(await readBody(context, MAX_JSON_BODY_BYTES), schema);
}

/** The same, where no body stands for an empty object. */
export async function readOptionalJson<Schema extends z.core.$ZodType>(
  context: AppContext,
  schema: Schema,
): Promise<z.infer<Schema>> {
  const bytes = await readBody(context, MAX_JSON_BODY_BYTES);
  return bytes.length === 0 ? checked(schema, {}, 'body') : parsed(bytes, schema);
}

function parsed<Schema extends z.core.$ZodType>(bytes: Uint8Array, schema: Schema): z.infer<Schema> {
  const text = decodeUtf8(bytes);
  let value: unknown;
  try {
    value = JSON.parse(text ?? '');
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const detail = text === '' ? 'The body is empty; send a JSON object.' : 'The body is not valid JSON.';
    throw new SkillError('invalid_request', { detail, kind: 'malformed', cause: error });
  }
  return checked(schema, value, 'body');
}

/** @throws SkillError invalid_request naming the first place that is wrong */
export function checked<Schema extends z.core.$ZodType>(
  schema: Schema,
  value: unknown,
  whole: string,
): z.infer<Schema> {
  const parsed = z.safeParse(schema, value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const place = issue === undefined || issue.path.length === 0 ? whole : issue.path.join('.');
  throw new SkillError('invalid_request', {
    detail: `${place}: ${issue?.message ?? 'not valid'}.`,
    facts: { parameter: place },
  });
}

async function arrived<Result>(read: () => Promise<Result>): Promise<Result> {
  try {
    return await read();
  } catch (error) {
    // Reading fails only when the connection does; nobody is left to tell, and it is no incident of ours.
    throw new SkillError('invalid_request', {
      detail: 'The body ended early.',
      kind: 'malformed',
      cause: error,
    });
  }
}

function tooLarge(limit: number): SkillError {
  return new SkillError('payload_too_large', {
    detail: `The body may have ${limit} bytes.`,
    facts: { limit },
  });
}
