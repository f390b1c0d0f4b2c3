import { createServer } from 'node:http';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ObjectStore } from '../../src/storage/object-store.ts';
import { s3ObjectStore } from '../../src/storage/s3.ts';

/** A server that answers the real SDK client with what the test at hand chose. */
let server: Server;
let store: ObjectStore;
let strict: S3Client;
let lenient: S3Client;
let answer: RequestListener = () => undefined;
let requests: IncomingMessage[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    requests.push(request);
    request.resume().once('end', () => {
      answer(request, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const clientOf = (checksums: 'WHEN_SUPPORTED' | 'WHEN_REQUIRED') =>
    new S3Client({
      endpoint: `http://127.0.0.1:${port}`,
      region: 'us-east-1',
      credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
      forcePathStyle: true,
      // One answer a call: a test must not wait for the SDK's own pauses.
      maxAttempts: 1,
      requestChecksumCalculation: checksums,
      responseChecksumValidation: checksums,
    });
  strict = clientOf('WHEN_SUPPORTED');
  lenient = clientOf('WHEN_REQUIRED');
  store = s3ObjectStore(strict, { bucket: 'bucket' });
});
beforeEach(() => {
  requests = [];
});
afterAll(async () => {
  strict.destroy();
  lenient.destroy();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

/** S3's form of an error. */
const s3Error =
  (status: number, code: string): RequestListener =>
  (_, response) => {
    response.writeHead(status, { 'content-type': 'application/xml' });
    response.end(
      `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>m</Message></Error>`,
    );
  };
const stored: RequestListener = (_, response) => {
  response.writeHead(200, { etag: '"new"' }).end();
};
/** One answer after the other; the last one stays. */
const inOrder = (...answers: readonly RequestListener[]): RequestListener => {
  let next = 0;
  return (request, response) => {
    answers[Math.min(next, answers.length - 1)]?.(request, response);
    next += 1;
  };
};

const get = (unless?: string) => store.get('key', unless);
const create = () => store.put('key', new Uint8Array([1]), 'absent');
const replace = () => store.put('key', new Uint8Array([1]), { matches: '"old"' });
const list = async () => {
  const keys: string[] = [];
  for await (const key of store.list('a/')) keys.push(key);
  return keys;
};
const unavailable = expect.objectContaining({
  name: 'SkillError',
  code: 'unavailable',
  // The caller is told nothing of what went wrong inside.
  message: 'The object store cannot answer now.',
}) as unknown;

describe('S3: an answer that says what is', () => {
  test('304: unmodified', async () => {
    answer = (_, response) => response.writeHead(304, { etag: '"old"' }).end();
    expect(await get('"old"')).toBe('unmodified');
    expect(requests[0]?.headers['if-none-match']).toBe('"old"');
  });

  test('404 NoSuchKey: absent, and a replacement of it is stale', async () => {
    answer = s3Error(404, 'NoSuchKey');
    expect(await get()).toBeUndefined();
    expect(await get('"old"')).toBeUndefined();
    expect(await replace()).toBe('stale');
  });

  test('412 PreconditionFailed: stale', async () => {
    answer = s3Error(412, 'PreconditionFailed');
    expect(await create()).toBe('stale');
    expect(await replace()).toBe('stale');
    expect(requests).toHaveLength(2);
  });

  test('412 without a body, as proxies answer: stale', async () => {
    answer = (_, response) => response.writeHead(412).end();
    expect(await create()).toBe('stale');
  });

  test('200: the ETag', async () => {
    answer = stored;
    expect(await create()).toEqual({ etag: '"new"' });
    expect(await replace()).toEqual({ etag: '"new"' });
    expect(requests.map(({ headers }) => [headers['if-none-match'], headers['if-match']])).toEqual([
      ['*', undefined],
      [undefined, '"old"'],
    ]);
  });

  test('pages of a list, to the last', async () => {
    const page =
      (keys: readonly string[], next?: string): RequestListener =>
      (_, response) =>
        response.end(
          `<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult><IsTruncated>${next !== undefined}</IsTruncated>` +
            (next === undefined ? '' : `<NextContinuationToken>${next}</NextContinuationToken>`) +
            keys.map((key) => `<Contents><Key>${key}</Key></Contents>`).join('') +
            '</ListBucketResult>',
        );
    // A page may be empty and not the last.
    answer = inOrder(page(['a/1', 'a/2'], 'T1+/='), page([], 'T2'), page(['a/3']));
    expect(await list()).toEqual(['a/1', 'a/2', 'a/3']);
    const queries = requests.map(({ url }) => new URL(url ?? '', 'http://s3.test').searchParams);
    expect(queries.map((query) => query.get('continuation-token'))).toEqual([null, 'T1+/=', 'T2']);
    expect(queries.map((query) => query.get('prefix'))).toEqual(['a/', 'a/', 'a/']);
  });
});

describe('S3: an answer that says nothing of the object is unavailable, and never absent or stale', () => {
  test.each([
    [404, 'NoSuchBucket'],
    [404, 'NotFound'],
    [403, 'AccessDenied'],
    [403, 'RequestTimeTooSkewed'],
    [403, 'InvalidAccessKeyId'],
    [400, 'BadDigest'],
    [301, 'PermanentRedirect'],
    [500, 'InternalError'],
    [501, 'NotImplemented'],
    [503, 'SlowDown'],
  ])('%i %s', async (status, code) => {
    answer = s3Error(status, code);
    await expect(get()).rejects.toEqual(unavailable);
    await expect(get('"old"')).rejects.toEqual(unavailable);
    await expect(create()).rejects.toEqual(unavailable);
    await expect(replace()).rejects.toEqual(unavailable);
    await expect(list()).rejects.toEqual(unavailable);
  });

  test('404 NoSuchKey to a creation', async () => {
    answer = s3Error(404, 'NoSuchKey');
    await expect(create()).rejects.toEqual(unavailable);
  });

  test.each<[string, RequestListener]>([
    ['a 404 without a body', (_, response) => response.writeHead(404).end()],
    ['a page of a proxy', (_, response) => response.writeHead(502).end('<html><title>Bad gateway</html>')],
    ['a 404 page of a proxy', (_, response) => response.writeHead(404).end('<html><title>Not found</html>')],
    ['a 200 without an ETag', (_, response) => response.writeHead(200).end('x')],
    ['a reset connection', (request) => request.socket.resetAndDestroy()],
    ['a closed connection', (request) => request.socket.end()],
  ])('%s', async (_, chosen) => {
    answer = chosen;
    await expect(get()).rejects.toEqual(unavailable);
    await expect(create()).rejects.toEqual(unavailable);
    await expect(replace()).rejects.toEqual(unavailable);
  });

  test('a second page that fails ends the list with the error', async () => {
    answer = inOrder(
      (_, response) =>
        response.end(
          '<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>T</NextContinuationToken>' +
            '<Contents><Key>a/1</Key></Contents></ListBucketResult>',
        ),
      s3Error(503, 'SlowDown'),
    );
    await expect(list()).rejects.toEqual(unavailable);
  });
});

describe('S3: 409 ConditionalRequestConflict tells nothing yet, so the write is tried again', () => {
  const conflict = s3Error(409, 'ConditionalRequestConflict');

  test('another writer won', async () => {
    answer = inOrder(conflict, conflict, s3Error(412, 'PreconditionFailed'));
    expect(await create()).toBe('stale');
    expect(requests).toHaveLength(3);
  });

  test('the other operation came to nothing, and this writer wins', async () => {
    answer = inOrder(conflict, stored);
    expect(await create()).toEqual({ etag: '"new"' });
    answer = inOrder(conflict, stored);
    expect(await replace()).toEqual({ etag: '"new"' });
    // The same conditions as before.
    expect(requests.map(({ headers }) => headers['if-none-match'] ?? headers['if-match'])).toEqual([
      '*',
      '*',
      '"old"',
      '"old"',
    ]);
  });

  test('the object was deleted meanwhile', async () => {
    answer = inOrder(conflict, s3Error(404, 'NoSuchKey'));
    expect(await replace()).toBe('stale');
  });

  test('a conflict without an end is unavailable: a creator must not believe that the object is there', async () => {
    answer = conflict;
    await expect(create()).rejects.toEqual(unavailable);
    expect(requests).toHaveLength(5);
    await expect(replace()).rejects.toEqual(unavailable);
  });
});

describe('S3: a body that is not whole is never answered', () => {
  const whole = Buffer.alloc(300_000, 'x');
  const headers = { etag: '"e"', 'content-length': String(whole.length) };
  /** Sends half, lets it arrive, then ends the connection in the given way. */
  const half =
    (end: (response: ServerResponse) => void, sent: Record<string, string> = headers): RequestListener =>
    (_, response) => {
      response.writeHead(200, sent);
      response.write(whole.subarray(0, 150_000), () => {
        end(response);
      });
    };

  test.each<[string, RequestListener]>([
    ['a connection reset in the middle', half((response) => response.socket?.resetAndDestroy())],
    ['a connection closed in the middle', half((response) => response.socket?.destroy())],
    ['a connection ended in the middle', half((response) => response.socket?.end())],
    [
      'a chunked body without its end',
      half((response) => response.socket?.end(), { etag: '"e"', 'transfer-encoding': 'chunked' }),
    ],
    [
      'bytes that differ from their checksum',
      (_, response) => {
        response.writeHead(200, { ...headers, 'x-amz-checksum-crc32': 'AAAAAA==' }).end(whole);
      },
    ],
  ])('%s', async (_, chosen) => {
    answer = chosen;
    await expect(get()).rejects.toEqual(unavailable);
    answer = (__, response) => response.writeHead(200, headers).end(whole);
    expect(await get()).toEqual({ bytes: expect.any(Uint8Array) as unknown, etag: '"e"' });
  });
});

describe('S3: checksums', () => {
  const named = () => Object.keys(requests[0]?.headers ?? {}).filter((name) => name.includes('checksum'));

  test('when_supported: a write carries one', async () => {
    answer = stored;
    await create();
    expect(named()).toContain('x-amz-checksum-crc32');
  });

  test('when_required: neither a write nor a read names any, for servers that do not know them', async () => {
    const plain = s3ObjectStore(lenient, { bucket: 'bucket' });
    answer = stored;
    await plain.put('key', new Uint8Array([1]), 'absent');
    expect(named()).toEqual([]);
    expect(requests[0]?.headers['content-encoding']).toBeUndefined();
    requests = [];
    answer = (_, response) => response.writeHead(200, { etag: '"e"' }).end('x');
    await plain.get('key');
    expect(named()).toEqual([]);
  });
});
