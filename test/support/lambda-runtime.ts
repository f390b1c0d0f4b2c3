import { Writable } from 'node:stream';
import type { HttpEvent } from '../../src/http/lambda-event.ts';
import type { WireAnswer } from './lambda-answer.ts';

/** What came of one streamed invocation. */
export interface StreamedAnswer extends WireAnswer {
  /** What the handler threw: told to Lambda in a trailer, so that nobody takes the answer for a whole one. */
  readonly failure?: unknown;
  readonly hasPrelude: boolean;
}

const PRELUDE_TYPE = 'application/vnd.awslambda.http-integration-response';

type Handler = (event: HttpEvent, stream: Writable, context?: never) => Promise<void>;

/**
 * What the runtime puts into the global scope, after aws-lambda-ric 4.0.2: a handler is marked and returned as it is;
 * the prelude waits for the first write. runtime.test.ts does without this, under that client itself.
 */
export const streamingRuntime = {
  streamifyResponse(handler: Handler): Handler {
    return Object.assign(handler, { [Symbol.for('aws.lambda.runtime.handler.streaming')]: 'response' });
  },
  HttpResponseStream: {
    from(stream: ResponseStream, prelude: object): ResponseStream {
      stream.setContentType(PRELUDE_TYPE);
      stream.beforeFirstWrite = [JSON.stringify(prelude), new Uint8Array(8)];
      return stream;
    },
  },
};

/** The request that carries the answer to Lambda: it takes bytes slowly, and all that it took can be looked at. */
class ResponseStream extends Writable {
  beforeFirstWrite: (string | Uint8Array)[] = [];
  readonly taken: Buffer[] = [];
  contentType = 'application/octet-stream';
  #written = false;
  readonly #breaksAfter: number;

  constructor(breaksAfter = Infinity) {
    super({ highWaterMark: 16 * 1024 });
    this.#breaksAfter = breaksAfter;
  }

  setContentType(type: string): void {
    if (this.#written) throw new Error('Cannot set content-type, too late.');
    this.contentType = type;
  }

  override write(chunk: unknown, ...rest: unknown[]): boolean {
    this.#written = true;
    for (const part of this.beforeFirstWrite.splice(0)) super.write(part);
    return super.write(chunk, ...(rest as []));
  }

  override _write(chunk: Buffer, _: string, done: (error?: Error) => void): void {
    this.taken.push(chunk);
    const length = this.taken.reduce((sum, one) => sum + one.length, 0);
    setImmediate(() => {
      done(length > this.#breaksAfter ? new Error('The connection broke.') : undefined);
    });
  }
}

/** Runs a streaming handler as the runtime does: it ends the stream itself only when the handler fails. */
export async function invokeStreaming(
  handler: Handler,
  event: HttpEvent,
  options: { readonly breaksAfter?: number } = {},
): Promise<StreamedAnswer> {
  if (!(Symbol.for('aws.lambda.runtime.handler.streaming') in handler)) throw new Error('not streaming');
  const stream = new ResponseStream(options.breaksAfter);
  const finished = new Promise<void>((resolve) => {
    stream.once('finish', resolve);
    stream.once('error', () => {
      resolve();
    });
  });
  try {
    await handler(event, stream);
  } catch (failure) {
    const wasEnded = stream.writableEnded;
    stream.end();
    await finished;
    if (wasEnded) throw new Error('ended, and then failed: nobody is told', { cause: failure });
    return { ...parseStreamed(stream.contentType, Buffer.concat(stream.taken)), failure };
  }
  if (!stream.writableEnded) throw new Error('Response stream is not finished.');
  await finished;
  return parseStreamed(stream.contentType, Buffer.concat(stream.taken));
}

/** What Lambda makes of the bytes: without a prelude all is a body, of status 200. */
export function parseStreamed(contentType: string, all: Buffer): Omit<StreamedAnswer, 'failure'> {
  const end = all.indexOf(new Uint8Array(8));
  if (contentType !== PRELUDE_TYPE || end < 0) {
    return { status: 200, headers: new Headers(), bytes: all, hasPrelude: false };
  }
  const prelude = JSON.parse(all.subarray(0, end).toString()) as {
    statusCode: number;
    headers: Record<string, string>;
    cookies: string[];
  };
  const headers = new Headers(prelude.headers);
  for (const cookie of prelude.cookies) headers.append('set-cookie', cookie);
  return { status: prelude.statusCode, headers, bytes: all.subarray(end + 8), hasPrelude: true };
}
