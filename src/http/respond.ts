import type { Digest } from '../core/ids.ts';
import { hexOf } from '../core/ids.ts';
import { SkillError } from '../core/errors.ts';
import { attachment } from '../core/resources/attachment.ts';
import type { Rendered } from './rendered-cache.ts';
import type { AppContext } from './route.ts';

/** Raised when an answer made of the same digest would have other bytes than before. */
const RENDERING = 1;

/** In one record with the rest: a header that is set apart sends Hono through the slower way of making an answer. */
const common = (context: AppContext) => ({
  'x-request-id': context.get('requestId'),
  'x-content-type-options': 'nosniff',
  vary: 'authorization, accept',
});
/** Private to its tenant; kept by clients and asked about by ETag. */
const REVALIDATE = 'private, no-cache';

/** A strong ETag made of a stored digest. */
export function etagOf(...parts: readonly (Digest | string | number)[]): string {
  const text = parts.map((part) =>
    typeof part === 'string' && part.startsWith('sha256:') ? hexOf(part as Digest).slice(0, 32) : part,
  );
  return `"${RENDERING}-${text.join('-')}"`;
}

/** JSON that belongs to this request alone. */
export function sendJson(context: AppContext, value: unknown, status: 200 | 201 = 200): Response {
  return sendJsonText(context, JSON.stringify(value), status);
}

/** The same, rendered already. */
export function sendJsonText(context: AppContext, body: string, status: 200 | 201 = 200): Response {
  return context.body(body, status, {
    ...common(context),
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body, 'utf8')),
    'cache-control': 'no-store',
  });
}

/** Too large to pass through us: 303 to where the exact bytes are, with what is known of them (contract, "Tool results"). */
export function sendElsewhere(context: AppContext, location: string, metadata: object): Response {
  const body = JSON.stringify(metadata);
  return context.body(body, 303, {
    ...common(context),
    location,
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body, 'utf8')),
    'cache-control': 'no-store',
    // The URL is a credential for a while.
    'referrer-policy': 'no-referrer',
  });
}

/** Done, with nothing to tell. */
export function sendNothing(context: AppContext): Response {
  return context.body(null, 204, { ...common(context), 'cache-control': 'no-store' });
}

/** JSON that clients may keep and revalidate. */
export function sendJsonWithEtag(context: AppContext, etag: string, value: () => unknown): Response {
  return sendRendered(context, etag, () => {
    const body = Buffer.from(JSON.stringify(value()), 'utf8');
    return { body, headers: { 'content-type': 'application/json' } };
  });
}

/** Answers 304 without rendering when the caller has it already. */
export function sendRendered(context: AppContext, etag: string, render: () => Rendered): Response {
  const headers = { ...common(context), etag, 'cache-control': REVALIDATE };
  if (matches(context.req.header('if-none-match'), etag)) return context.body(null, 304, headers);
  const rendered = render();
  return context.body(rendered.body, 200, {
    ...headers,
    ...rendered.headers,
    'content-length': String(rendered.body.length),
  });
}

/** Whether the caller asks for exact bytes in place of the tool result. */
export function wantsBytes(context: AppContext): boolean {
  return /(?:^|,)\s*application\/octet-stream\s*(?:[;,]|$)/i.test(context.req.header('accept') ?? '');
}

/**
 * A file's exact bytes, inert in a browser whatever they are. Honours one byte range (RFC 9110, 14), and If-Range.
 *
 * @throws SkillError invalid_request (416) for a range outside the file
 */
export function sendBytes(
  context: AppContext,
  file: { bytes: Uint8Array; digest: Digest; filename: string },
): Response {
  const etag = `"${hexOf(file.digest)}"`;
  const size = file.bytes.length;
  const headers = {
    ...common(context),
    etag,
    'cache-control': 'private, no-store',
    'accept-ranges': 'bytes',
    'content-type': 'application/octet-stream',
    'content-disposition': attachment(file.filename),
    'content-security-policy': "default-src 'none'; sandbox",
  };
  const ifRange = context.req.header('if-range');
  const range =
    ifRange === undefined || ifRange === etag ? parseRange(context.req.header('range'), size) : undefined;
  if (range === undefined) {
    return context.body(copy(file.bytes), 200, { ...headers, 'content-length': String(size) });
  }
  const part = file.bytes.subarray(range.start, range.end + 1);
  return context.body(copy(part), 206, {
    ...headers,
    'content-length': String(part.length),
    'content-range': `bytes ${range.start}-${range.end}/${size}`,
  });
}

/** If-None-Match: `*` or a list, compared weakly (RFC 9110, 13.1.2). */
export function matches(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  if (header.trim() === '*') return true;
  return (header.match(/(?:W\/)?"[^"]*"/g) ?? []).some((one) => one.replace(/^W\//, '') === etag);
}

/** One range; undefined when there is none or more than one, which are answered whole as RFC 9110 allows. */
function parseRange(header: string | undefined, size: number): { start: number; end: number } | undefined {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header?.trim() ?? '');
  const [, first = '', last = ''] = match ?? [];
  if (match === null || (first === '' && last === '')) return undefined;
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1);
  if (first !== '' && last !== '' && Number(last) < start) return undefined;
  if (start >= size) {
    throw new SkillError('invalid_request', {
      detail: `The range begins at ${start}; the file has ${size} bytes.`,
      kind: 'range',
      facts: { size },
    });
  }
  return { start, end };
}

/** Bytes of their own buffer: a view into a larger one would be sent with its neighbours. */
function copy(bytes: Uint8Array): ArrayBuffer {
  return new Uint8Array(bytes).buffer;
}
