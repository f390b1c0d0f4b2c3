import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { hashBodySource } from '../../cdk/edge-functions.ts';
import { ERRORS } from '../../src/core/errors.ts';
import { packageRoot } from '../../src/package-root.ts';

type ViewerHeaders = Record<string, { value: string; multiValue?: { value: string }[] }>;

/** CloudFront runs the file as a script and calls `handler`. */
function copyAuthorization(headers: ViewerHeaders): ViewerHeaders {
  const source = readFileSync(path.join(packageRoot(), 'cdk', 'edge', 'copy-authorization.js'), 'utf8');
  const event = { version: '1.0', request: { method: 'GET', uri: '/v1/catalog', querystring: {}, headers } };
  const answer = runInNewContext(`${source}\nhandler(event)`, { event }) as { headers: ViewerHeaders };
  return JSON.parse(JSON.stringify(answer.headers)) as ViewerHeaders;
}

describe('[D4] the key past the signature', () => {
  test('travels in a header of its own', () => {
    expect(copyAuthorization({ authorization: { value: 'Bearer k' }, accept: { value: '*/*' } })).toEqual({
      'x-skillbucket-authorization': { value: 'Bearer k' },
      accept: { value: '*/*' },
    });
  });

  test('and nobody else can set that header', () => {
    const forged = { 'x-skillbucket-authorization': { value: 'Bearer forged' } };
    expect(copyAuthorization({ ...forged, accept: { value: '*/*' } })).toEqual({ accept: { value: '*/*' } });
    expect(copyAuthorization({ ...forged, authorization: { value: 'Bearer k' } })).toEqual({
      'x-skillbucket-authorization': { value: 'Bearer k' },
    });
  });
});

interface Answer {
  readonly status?: string;
  readonly headers: Record<string, { key: string; value: string }[]>;
  readonly body?: unknown;
}

interface Body {
  readonly inputTruncated: boolean;
  readonly encoding: 'base64' | 'text';
  readonly data: string;
}

/** The text that is deployed, as Lambda loads it. */
const { handler } = (() => {
  const module = { exports: {} };
  runInNewContext(hashBodySource(), { module, require: createRequire(import.meta.url), Buffer });
  return module.exports as { handler: (event: unknown) => Promise<Answer> };
})();

function hashBody(method: string, body?: Body, sent?: string): Promise<Answer> {
  return handler({
    Records: [
      {
        cf: {
          config: { requestId: 'request-1', eventType: 'origin-request' },
          request: {
            method,
            uri: '/v1/bundles/main',
            headers: {
              host: [{ key: 'Host', value: 'x.lambda-url.us-east-1.on.aws' }],
              ...(sent === undefined ? {} : { [HASH]: [{ key: 'X-Amz-Content-Sha256', value: sent }] }),
            },
            ...(body === undefined ? {} : { body: { action: 'read-only', ...body } }),
          },
        },
      },
    ],
  });
}

const HASH = 'x-amz-content-sha256';
const sha256 = (bytes: Uint8Array | string): string => createHash('sha256').update(bytes).digest('hex');
const whole = (bytes: Uint8Array): Body => ({
  inputTruncated: false,
  encoding: 'base64',
  data: Buffer.from(bytes).toString('base64'),
});
const hashIn = (answer: Answer): string | undefined => answer.headers[HASH]?.[0]?.value;

describe('[D4] the hash of the body', () => {
  test('is that of the bytes, whatever they are', async () => {
    const bytes = Uint8Array.from({ length: 1024 }, (_, index) => index % 256);
    const answer = await hashBody('PUT', whole(bytes));
    expect(hashIn(answer)).toBe(sha256(bytes));
    expect(answer.headers['host']).toHaveLength(1);
    expect(answer.status).toBeUndefined();
    expect(hashIn(await hashBody('POST', whole(Buffer.from('{"name":"漢字"}'))))).toBe(
      sha256('{"name":"漢字"}'),
    );
    const text: Body = { inputTruncated: false, encoding: 'text', data: '漢字' };
    expect(hashIn(await hashBody('POST', text))).toBe(sha256('漢字'));
  });

  test('is that of nothing where there is no body', async () => {
    expect(hashIn(await hashBody('GET'))).toBe(sha256(''));
    expect(hashIn(await hashBody('DELETE', whole(new Uint8Array())))).toBe(sha256(''));
  });

  test('is kept when the caller sent one, for a body too large to be seen here too', async () => {
    const cut: Body = { ...whole(Buffer.from('the first MiB')), inputTruncated: true };
    const own = sha256('all of it');
    expect(hashIn(await hashBody('PUT', cut, own))).toBe(own);
    expect(hashIn(await hashBody('PUT', whole(Buffer.from('x')), own))).toBe(own);
  });

  test('is made when what the caller sent is none', async () => {
    for (const sent of ['UNSIGNED-PAYLOAD', '', sha256('x').toUpperCase(), `${sha256('x')}0`]) {
      expect(hashIn(await hashBody('PUT', whole(Buffer.from('x')), sent))).toBe(sha256('x'));
    }
  });

  test('a body too large without one is refused, as the service itself would', async () => {
    const cut: Body = { ...whole(Buffer.from('the first MiB')), inputTruncated: true };
    for (const sent of [undefined, 'UNSIGNED-PAYLOAD']) {
      const answer = await hashBody('PUT', cut, sent);
      expect(answer.status).toBe('413');
      expect(answer.headers['content-type']?.[0]?.value).toBe('application/problem+json');
      expect(answer.headers['cache-control']?.[0]?.value).toBe('no-store');
      expect(JSON.parse(String(answer.body))).toEqual({
        type: 'urn:skillbucket:error:payload_too_large',
        title: ERRORS.payload_too_large.title,
        status: 413,
        detail: expect.stringContaining('POST /v1/bundles/{bundle}/uploads') as string,
        code: 'payload_too_large',
        fix: expect.any(String) as string,
        request_id: 'request-1',
      });
    }
  });

  test('fits into a template, and both functions into what CloudFront takes', () => {
    expect(hashBodySource().length).toBeLessThan(4096);
    expect(readFileSync(path.join(packageRoot(), 'cdk/edge/copy-authorization.js')).length).toBeLessThan(
      10_240,
    );
  });
});
