import type { RequestListener, ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { temporaryFolders } from '../sources/folders.ts';
import type { Listening } from '../support/listening.ts';
import { listening } from '../support/listening.ts';
import { skillMd } from '../support/skills.ts';
import { skillbucket } from '../support/terminal.ts';

const folder = temporaryFolders();

/** A server that is no good service: it does to every request, or to those of one step, what a test says. */
let server: Listening;
let answer: RequestListener;
let seen: string[] = [];
beforeAll(async () => {
  server = await listening((request, response) => {
    seen.push(`${request.method ?? ''} ${request.url ?? ''}`);
    answer(request, response);
  });
});
afterAll(() => server.close());
beforeEach(() => {
  seen = [];
});

const run = async (command: 'publish' | 'tenants' | 'keys', env: Record<string, string> = {}) =>
  skillbucket(
    {
      publish: ['publish', await folder({ 'demo/SKILL.md': skillMd('demo') }), '--bundle', 'team'],
      tenants: ['tenants', 'list'],
      keys: ['keys', 'create', '--tenant', 'acme'],
    }[command],
    { SKILLBUCKET_URL: server.url, SKILLBUCKET_KEY: 'some-key', ...env },
  );
const json = (response: ServerResponse, value: unknown, status = 200) =>
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
/** A service up to the PUT of the archive, which is what the test says. */
const untilPut =
  (url: string, put: RequestListener, headers: Record<string, string> = {}): RequestListener =>
  (request, response) => {
    if (request.method === 'PUT') put(request, response);
    else if (request.method === 'POST')
      json(response, { upload_id: 'a'.repeat(32), state: 'waiting', url, headers });
    else json(response, { code: 'not_found', detail: 'no such bundle' }, 404);
  };

const COMMANDS = ['publish', 'tenants', 'keys'] as const;

describe.each(COMMANDS)('%s: what is no Skillbucket is told in one line', (command) => {
  test.each([
    ['a page', 200, 'text/html; charset=utf-8', '<html>', 'answered 200 text/html'],
    ['a page that is not found', 404, 'text/html', '<html>', 'answered 404 text/html'],
    ['a login page', 401, 'text/html', '<html>', 'answered 401 text/html'],
    ['a firewall', 403, 'text/plain', 'no', 'answered 403 text/plain'],
    ['other JSON', 200, 'application/json', '{"hello":1}', 'answered 200 application/json'],
    [
      'an error of something else',
      400,
      'application/json',
      '{"message":"no"}',
      'answered 400 application/json',
    ],
    ['nothing', 200, undefined, '', 'answered 200 without a content type'],
  ])('%s', async (_, status, type, body, text) => {
    answer = (_request, response) => {
      response.writeHead(status, type === undefined ? {} : { 'content-type': type }).end(body);
    };
    const { code, out, err } = await run(command);
    expect({ code, out, requests: seen.length }).toEqual({ code: 2, out: '', requests: 1 });
    expect(err).toContain(`${server.url} is not a Skillbucket service (${text}). Is the URL right?`);
    expect(err).not.toMatch(/\n {4}at /);
  });

  test.each([301, 302, 303, 307, 308])('a redirect (%i) is not followed, and hints where', async (status) => {
    answer = (_, response) => {
      response.writeHead(status, { location: 'https://user:secretword@elsewhere.example/x' }).end();
    };
    const { code, out, err } = await run(command);
    expect({ code, out, requests: seen.length }).toEqual({ code: 2, out: '', requests: 1 });
    expect(err).toContain(`redirects to https://elsewhere.example (${status})`);
    expect(err).not.toContain('secretword');
  });

  test('a code of a newer service is told with its words', async () => {
    answer = (_, response) => {
      json(response, { code: 'toString', detail: 'Too late today.' }, 409);
    };
    expect(await run(command)).toMatchObject({
      code: 1,
      err: expect.stringContaining('Too late today.') as string,
    });
  });

  test('an answer that dies on the way: no stack, and it could not run', async () => {
    answer = (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
      response.write('{"tenants"', () => response.destroy());
    };
    const { code, out, err } = await run(command);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain('broke off its answer');
    expect(err).not.toMatch(/\n {4}at /);
  });

  test('an answer that never begins, or never ends: it says for what it waits, and for how long', async () => {
    const hangs: RequestListener[] = [
      () => undefined,
      (_, response) => {
        response.writeHead(200, { 'content-type': 'application/json' }).write('{');
      },
    ];
    for (answer of hangs) {
      seen = [];
      const { code, out, err } = await run(command, { SKILLBUCKET_TIMEOUT_SECONDS: '1' });
      expect({ code, out, requests: seen.length }).toEqual({ code: 2, out: '', requests: 1 });
      const what = `${server.url} (${seen[0] ?? ''})`;
      expect(err).toContain(`Waiting for ${what} to answer, at most 1 s`);
      expect(err).toContain(`${what} did not answer within 1 s`);
    }
  });

  test('an answer without an end is not read for ever', async () => {
    const chunk = Buffer.alloc(1024 * 1024, 'x');
    answer = (_, response) => {
      const more = (): void => {
        if (!response.destroyed) response.write(chunk, more);
      };
      more();
    };
    const { code, err } = await run(command);
    expect([code, err]).toEqual([2, expect.stringContaining('answered more than')]);
  });
});

describe('publish: a step that died is tried again, and told', () => {
  test('an answer that dies once', async () => {
    let died = false;
    answer = (request, response) => {
      if (died) {
        untilPut('', () => undefined)(request, response);
        return;
      }
      died = true;
      response.writeHead(200, { 'content-length': '100' }).write('{', () => response.destroy());
    };
    const { err } = await run('publish');
    expect(err).toContain('broke off its answer. Trying again (2 of 4).');
    expect(seen.slice(0, 3)).toEqual([
      'GET /v1/bundles/team',
      'GET /v1/bundles/team',
      'POST /v1/bundles/team/uploads',
    ]);
  });
});

describe('publish: what the bucket does', () => {
  test.each([
    ['/bucket/x', {}],
    ['', {}],
    ['ftp://example.org/x', {}],
    ['http://', {}],
    ['http://127.0.0.1:1/x', { 'bad name': 'x' }],
    ['http://127.0.0.1:1/x', { name: 'line\nbreak' }],
  ])('the upload URL %j with %j cannot be used: once, no stack', async (url, headers) => {
    answer = untilPut(url, () => undefined, headers);
    const { code, out, err } = await run('publish');
    expect({ code, out, requests: seen.length }).toEqual({ code: 2, out: '', requests: 2 });
    expect(err).toContain('upload URL that cannot be used');
    expect(err).not.toMatch(/\n {4}at /);
  });

  test('an answer to the PUT without an end is not read for ever', async () => {
    answer = untilPut(`${server.url}/put`, (request, response) => {
      request.resume();
      response.writeHead(403);
      const more = (): void => {
        if (!response.destroyed) response.write('<Code>SlowDown</Code>'.padEnd(64 * 1024), more);
      };
      more();
    });
    const { code, err } = await run('publish');
    expect([code, err]).toEqual([1, expect.stringContaining('The bucket answered 403 (SlowDown)')]);
  });

  test.each([
    ['does not answer', () => undefined],
    [
      'does not end its answer',
      (_: unknown, response: ServerResponse) => {
        response.writeHead(500).write('<');
      },
    ],
  ] as [string, RequestListener][])('a bucket that %s: waited for once, and told', async (_, put) => {
    answer = untilPut(`${server.url}/put`, put);
    const { code, err } = await run('publish', { SKILLBUCKET_TIMEOUT_SECONDS: '1' });
    expect([code, seen.length]).toEqual([2, 3]);
    expect(err).toContain(`${new URL(server.url).host} (PUT of the archive) did not answer within 1 s`);
  });
});
