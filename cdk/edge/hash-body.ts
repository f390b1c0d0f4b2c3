import { createHash } from 'node:crypto';

/*
 * Lambda@Edge, origin request, with the body: a function URL takes no unsigned payload, and CloudFront signs the hash
 * that it finds in `x-amz-content-sha256` without computing it (CloudFront developer guide, "Restrict access to an AWS
 * Lambda function URL origin"). Stands alone: it is deployed as the text of this one file.
 */

type Headers = Record<string, { key?: string; value: string }[]>;

interface EdgeRequest {
  headers: Headers;
  /** At most 1 MiB of it; `inputTruncated` when there is more. */
  body?: { inputTruncated: boolean; encoding: 'base64' | 'text'; data: string };
}

interface EdgeResponse {
  status: string;
  statusDescription: string;
  headers: Headers;
  body: string;
}

interface OriginRequestEvent {
  Records: [{ cf: { config: { requestId: string }; request: EdgeRequest } }];
}

const HASH = 'x-amz-content-sha256';

export function handler(event: OriginRequestEvent): Promise<EdgeRequest | EdgeResponse> {
  const { config, request } = event.Records[0].cf;
  const sent = request.headers[HASH];
  // A caller may send the hash of a body that is too large to be read here. A wrong one is refused by Lambda.
  if (sent?.length === 1 && /^[0-9a-f]{64}$/.test(sent[0]?.value ?? '')) return Promise.resolve(request);
  if (request.body?.inputTruncated === true) return Promise.resolve(tooLarge(config.requestId));
  const { data, encoding } = request.body ?? { data: '', encoding: 'text' };
  const bytes = Buffer.from(data, encoding === 'base64' ? 'base64' : 'utf8');
  request.headers[HASH] = [{ key: HASH, value: createHash('sha256').update(bytes).digest('hex') }];
  return Promise.resolve(request);
}

/** The same shape as src/http/problem.ts makes. */
function tooLarge(requestId: string): EdgeResponse {
  const header = (key: string, value: string): Headers => ({ [key]: [{ key, value }] });
  return {
    status: '413',
    statusDescription: 'Payload Too Large',
    headers: {
      ...header('content-type', 'application/problem+json'),
      ...header('cache-control', 'no-store'),
      ...header('x-content-type-options', 'nosniff'),
      ...header('x-request-id', requestId),
    },
    body: JSON.stringify({
      type: 'urn:skillbucket:error:payload_too_large',
      title: 'The request body is too large.',
      status: 413,
      detail: 'A body of more than 1 MiB needs an upload: POST /v1/bundles/{bundle}/uploads.',
      code: 'payload_too_large',
      fix: 'Use an upload, or send the SHA-256 of the body in hex as x-amz-content-sha256.',
      request_id: requestId,
    }),
  };
}
