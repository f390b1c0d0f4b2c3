import type { EventSource } from './lambda-event.ts';

/** What a function answers, in every form. */
export interface LambdaResult {
  readonly statusCode: number;
  readonly statusDescription?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly multiValueHeaders?: Readonly<Record<string, readonly string[]>>;
  readonly cookies?: readonly string[];
  readonly body: string;
  readonly isBase64Encoded: boolean;
}

/** What the client gets, and whether it came in base64 (undefined when streamed). */
export interface WireAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Buffer;
  readonly isBase64Encoded?: boolean;
}

/** What the source makes of a function's answer; it throws where AWS would answer 502. */
export function wireAnswerOf(source: EventSource, result: LambdaResult): WireAnswer {
  const isMultiValue = source === 'ALB, multi-value';
  if (isMultiValue && !result.multiValueHeaders) throw new Error('502: no multiValueHeaders');
  const headers = new Headers();
  const single = isMultiValue ? {} : (result.headers ?? {});
  for (const [name, value] of Object.entries(single)) headers.append(name, value);
  // Format 2.0 and load balancers in single mode do not know the other form.
  const multiple = isMultiValue || source === 'REST API' ? (result.multiValueHeaders ?? {}) : {};
  for (const [name, values] of Object.entries(multiple)) {
    for (const value of values) headers.append(name, value);
  }
  for (const cookie of result.cookies ?? []) headers.append('set-cookie', cookie);
  if (source.startsWith('ALB') && !/^\d{3} \w/.test(result.statusDescription ?? '')) {
    throw new Error('502: no statusDescription');
  }
  return {
    status: result.statusCode,
    headers,
    bytes: Buffer.from(result.body, result.isBase64Encoded ? 'base64' : 'utf8'),
    isBase64Encoded: result.isBase64Encoded,
  };
}
