import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { zipOf } from '../support/archive-bytes.ts';
import type { WireAnswer } from '../support/lambda-answer.ts';
import type { WireRequest } from '../support/lambda-event.ts';
import { TRANSPORTS } from '../support/lambda-transport.ts';
import type { TestService } from '../support/service.ts';
import { startService } from '../support/service.ts';
import { skillMd } from '../support/skills.ts';

const ALL_BYTES = Uint8Array.from({ length: 256 }, (_, index) => index);
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const tagged = (name: string, tags: string, description: string) =>
  `---\nname: ${name}\ndescription: ${description}\nmetadata:\n  skillbucket.tags: "${tags}"\n---\n# ${name}\n`;
const ARCHIVE = zipOf({
  'demo/SKILL.md': skillMd('demo'),
  'demo/all.bin': ALL_BYTES,
  'demo/empty.bin': '',
  'demo/logo.png': PNG,
  'demo/ü.md': '\uFEFF漢字 😀\r\n',
  'letters/SKILL.md': tagged('letters', 'support writing', 'Writes letters to café owners & friends.'),
  'notes/SKILL.md': tagged('notes', 'support', 'Takes notes.'),
});

let service: TestService;
beforeAll(async () => {
  service = await startService({ resources: { binary: 'allow' } });
});
afterAll(() => service.close());

describe.each(TRANSPORTS)('[D2] events of $name', ({ name, source, isBuffered, handlerOf }) => {
  let send: (request: WireRequest) => Promise<WireAnswer>;
  let published: WireAnswer;
  const keepsRepeated = source !== 'ALB';

  const get = (target: string, headers: WireRequest['headers'] = []) =>
    send({ method: 'GET', target, headers });
  const post = (target: string, body: object, headers: WireRequest['headers'] = []) =>
    send({
      method: 'POST',
      target,
      headers: [['content-type', 'application/json'], ...headers],
      body: JSON.stringify(body),
    });
  const read = (relative_path: string, headers: WireRequest['headers'] = []) =>
    post(
      '/v1/tools/load_skill_resource',
      { name: 'demo', relative_path, context: { session_id: 's' } },
      headers,
    );
  const raw = (relative_path: string, headers: WireRequest['headers'] = []) =>
    read(relative_path, [['accept', 'application/octet-stream'], ...headers]);
  const shown = ({ bytes }: WireAnswer) => JSON.parse(bytes.toString()) as Record<string, unknown>;
  const names = (answer: WireAnswer) =>
    (shown(answer)['skills'] as { name: string }[]).map((skill) => skill.name);
  function expectProblem(answer: WireAnswer, status: number, code: string): void {
    expect([answer.status, answer.headers.get('content-type')]).toEqual([status, 'application/problem+json']);
    expect(shown(answer)).toMatchObject({
      status,
      code,
      request_id: answer.headers.get('x-request-id'),
    });
    if (isBuffered) expect(answer.isBase64Encoded).toBe(false);
  }

  beforeAll(async () => {
    const key = await service.issue(`t-${name.toLowerCase().replaceAll(/[^a-z]+/g, '-')}`);
    const handle = handlerOf(service.app);
    send = (request) =>
      handle({ ...request, headers: [['authorization', `Bearer ${key}`], ...(request.headers ?? [])] });
    const headers = [['content-type', 'application/zip']] as const;
    published = await send({ method: 'PUT', target: '/v1/bundles/main', headers, body: ARCHIVE });
    await post('/v1/tools/load_skill', { name: 'demo', context: { session_id: 's' } });
  });

  test('a zip is published from a base64 body', () => {
    expect(published.status).toBe(201);
    expect(published.headers.get('content-type')).toBe('application/json');
    expect(shown(published)).toMatchObject({ outcome: 'published', revision: 1 });
    if (isBuffered) expect(published.isBase64Encoded).toBe(false);
  });

  test('query keys repeat, and values are decoded once', async () => {
    const all = '/v1/catalog?tags=support&tags=writing&tag_match=all';
    expect(names(await get(all))).toEqual(['letters']);
    // A load balancer passes the last value alone unless multi-value headers are enabled.
    const any = '/v1/catalog?tags=support&tags=writing&tag_match=any';
    expect(names(await get(any))).toEqual(keepsRepeated ? ['letters', 'notes'] : ['letters']);
    expect(names(await get('/v1/catalog?q=caf%C3%A9+owners+%26'))).toEqual(['letters']);
    expect(names(await get('/v1/catalog?q=caf%25C3%25A9'))).toEqual([]);
    expectProblem(await get('/v1/catalog?tag_match=a%26tag_match=b'), 422, 'invalid_request');
  });

  test('a catalog that the caller has is 304 with nothing in it', async () => {
    const etag = (await get('/v1/catalog')).headers.get('etag') ?? '';
    const again = await get('/v1/catalog', [
      ['if-none-match', '"other", W/"another"'],
      ['if-none-match', `W/${etag}`],
    ]);
    expect([again.status, again.bytes.length, again.headers.get('etag')]).toEqual([304, 0, etag]);
  });

  test('text that is not ASCII', async () => {
    expect(shown(await read('ü.md'))).toMatchObject({ content: '\uFEFF漢字 😀\r\n' });
  });

  test.each([
    ['all.bin', ALL_BYTES],
    ['logo.png', PNG],
    ['empty.bin', Buffer.alloc(0)],
    ['ü.md', Buffer.from('\uFEFF漢字 😀\r\n')],
  ])('the exact bytes of %s', async (path, bytes) => {
    const answer = await raw(path);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/octet-stream']);
    expect(answer.bytes.equals(bytes)).toBe(true);
    expect(answer.headers.get('etag')).toMatch(/^"[0-9a-f]{64}"$/);
    expect(answer.headers.get('content-length')).toBe(isBuffered ? String(bytes.length) : null);
    if (isBuffered) expect(answer.isBase64Encoded).toBe(true);
  });

  test('bytes in tool results', async () => {
    const { content_parts } = shown(await read('logo.png')) as { content_parts: { data: string }[] };
    expect(Buffer.from(content_parts[0]?.data ?? '', 'base64').equals(PNG)).toBe(true);
  });

  test('a range, and one outside the file', async () => {
    const part = await raw('all.bin', [['range', 'bytes=127-130']]);
    expect([part.status, part.headers.get('content-range')]).toEqual([206, 'bytes 127-130/256']);
    expect([...part.bytes]).toEqual([127, 128, 129, 130]);
    const outside = await raw('all.bin', [['range', 'bytes=256-']]);
    expectProblem(outside, 416, 'invalid_request');
    expect(outside.headers.get('content-range')).toBe('bytes */256');
  });

  test('a header on two lines is a list', async () => {
    const answer = await read('all.bin', [
      ['accept', 'text/plain;q=0.5'],
      ['accept', 'application/octet-stream'],
    ]);
    expect(answer.bytes.equals(ALL_BYTES)).toBe(true);
  });

  test('HEAD is GET without a body, and 204 has none', async () => {
    const head = await send({ method: 'HEAD', target: '/v1/catalog' });
    const whole = await get('/v1/catalog');
    expect([head.status, head.bytes.length]).toEqual([200, 0]);
    for (const header of ['etag', 'content-type', 'content-length', 'cache-control', 'vary']) {
      expect([header, head.headers.get(header)]).toEqual([header, whole.headers.get(header)]);
    }
    expect(await send({ method: 'HEAD', target: '/v1/skills/nope' })).toMatchObject({ status: 404 });
    const released = await send({ method: 'DELETE', target: '/v1/sessions/none' });
    expect([released.status, released.bytes.length]).toEqual([204, 0]);
    expect(released.headers.get('cache-control')).toBe('no-store');
  });

  test('refusals', async () => {
    expectProblem(await get('/v1/skills/nope'), 404, 'skill_not_found');
    const other = await handlerOf(service.app)({ method: 'GET', target: '/v1/catalog' });
    expectProblem(other, 401, 'unauthenticated');
    expect(other.headers.get('www-authenticate')).toContain('Bearer');
    const method = await send({ method: 'PROPFIND', target: '/v1/catalog' });
    expectProblem(method, 405, 'invalid_request');
    expect(method.headers.get('allow')).toBe('GET, HEAD');
  });

  test('what no request can be made of is the same refusal', async () => {
    const log = vi.spyOn(console, 'error').mockReturnValue();
    for (const request of [
      { method: 'POST', target: '/v1/validate', body: '%%%', isBase64Encoded: true },
      { method: 'TRACE', target: '/v1/catalog' },
    ]) {
      expectProblem(await send(request), 400, 'invalid_request');
    }
    log.mockRestore();
  });

  test('a session id in body and path: UTF-8, spaces, signs of their own', async () => {
    // An HTTP API decodes the path, so a slash or a question mark in it is lost.
    const ids = ['漢字 😀', 'a%b#c+d%41', ...(source === 'HTTP API' ? [] : ['a/b?c', '..%2F'])];
    for (const session_id of ids) {
      const body = { name: 'demo', context: { session_id } };
      expect((await post('/v1/tools/load_skill', body)).status).toBe(200);
      const path = `/v1/sessions/${encodeURIComponent(session_id)}/activations`;
      const { activations } = shown(await get(path));
      expect(activations).toMatchObject([{ name: 'demo', session_id }]);
    }
  });

  test('no body, an empty one, one with GET', async () => {
    const target = '/v1/tools/load_skill';
    const headers = [['content-type', 'application/json']] as const;
    expectProblem(await send({ method: 'POST', target, headers }), 400, 'invalid_request');
    expectProblem(await send({ method: 'POST', target, headers, body: '' }), 400, 'invalid_request');
    expect((await send({ method: 'GET', target: '/v1/catalog', headers, body: '{}' })).status).toBe(200);
  });

  test.each(['1', '99999999999', 'abc', '-1'])('a Content-Length that lies: %s', async (length) => {
    const target = '/v1/bundles/main';
    const headers = [['content-length', length]] as const;
    const again = await send({ method: 'PUT', target, headers, body: ARCHIVE });
    expect(again.status).toBe(200);
    expect(shown(again)).toMatchObject({ outcome: 'unchanged' });
  });
});
