import { randomBytes } from 'node:crypto';
import { Hono } from 'hono';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { MAX_ANSWER_FILE_BYTES } from '../../src/core/limits.ts';
import { streamingHandler } from '../../src/http/lambda.ts';
import type { AppEnv } from '../../src/http/route.ts';
import { zipOf } from '../support/archive-bytes.ts';
import { eventOf } from '../support/lambda-event.ts';
import { streamed } from '../support/lambda-transport.ts';
import type { TestService } from '../support/service.ts';
import { startService } from '../support/service.ts';
import { skillMd } from '../support/skills.ts';

const BIG = randomBytes(MAX_ANSWER_FILE_BYTES);

describe('[D2] the handler that streams', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService({ resources: { binary: 'allow', max_file_bytes: BIG.length } });
  });
  afterAll(() => service.close());

  test('the largest file that is answered itself passes byte by byte', async () => {
    const send = streamed(service.app);
    const headers = [
      ['x-skillbucket-authorization', `Bearer ${await service.issue('acme')}`],
      ['accept', 'application/octet-stream'],
      ['content-type', 'application/json'],
    ] as const;
    const body = zipOf({ 'big/SKILL.md': skillMd('big'), 'big/big.bin': BIG });
    const put = await send({
      method: 'PUT',
      target: '/v1/bundles/main',
      headers: headers.slice(0, 1),
      body,
    });
    expect([put.status, put.hasPrelude]).toEqual([201, true]);
    const context = { session_id: 's' };
    const call = (tool: string, input: object) =>
      send({ method: 'POST', target: `/v1/tools/${tool}`, headers, body: JSON.stringify(input) });
    expect((await call('load_skill', { name: 'big', context })).status).toBe(200);
    const answer = await call('load_skill_resource', { name: 'big', relative_path: 'big.bin', context });
    expect([answer.status, answer.hasPrelude]).toEqual([200, true]);
    expect(answer.bytes.equals(BIG)).toBe(true);
  });

  test('a body in many pieces, under back-pressure', async () => {
    const pieces = Array.from({ length: 300 }, (_, index) => randomBytes(index * 7));
    const app = new Hono<AppEnv>();
    app.get('/', () => {
      const left = [...pieces];
      return new Response(
        new ReadableStream<Uint8Array>({
          pull(controller) {
            const next = left.shift();
            if (next === undefined) controller.close();
            else controller.enqueue(new Uint8Array(next));
          },
        }),
      );
    });
    const answer = await streamed(app)({ method: 'GET', target: '/' });
    expect(answer.bytes.equals(Buffer.concat(pieces))).toBe(true);
  });

  /** A body that gives some bytes and then waits or fails. */
  function endless(fails: boolean) {
    const cancelled = vi.fn();
    const app = new Hono<AppEnv>();
    app.get('/', () => {
      let count = 0;
      return new Response(
        new ReadableStream<Uint8Array>({
          pull(controller) {
            count += 1;
            if (fails && count > 3) controller.error(new Error('the bucket went away'));
            else controller.enqueue(new Uint8Array(1_000).fill(count));
          },
          cancel: cancelled,
        }),
      );
    });
    return { app, cancelled };
  }

  test('a body that fails half-way fails the invocation, so that it is not taken for a whole one', async () => {
    const answer = await streamed(endless(true).app)({ method: 'GET', target: '/' });
    expect(answer).toMatchObject({ hasPrelude: true, failure: { message: 'the bucket went away' } });
    expect(answer.bytes.toString('latin1')).not.toContain('Internal Server Error');
  });

  test('when the connection breaks the rest of the body is let go', async () => {
    const { app, cancelled } = endless(false);
    const answer = await streamed(app, { breaksAfter: 50_000 })({ method: 'GET', target: '/' });
    expect(answer.failure).toMatchObject({ message: 'The connection broke.' });
    await vi.waitFor(() => {
      expect(cancelled).toHaveBeenCalledOnce();
    });
  });

  test('where there is no runtime it can be exported, and says so when it is called', async () => {
    for (const left of [undefined, {}]) {
      vi.stubGlobal('awslambda', left);
      const handler = streamingHandler(new Hono<AppEnv>());
      const call = handler(eventOf['Function URL']({ method: 'GET', target: '/' }), undefined as never);
      await expect(call).rejects.toThrow('awslambda');
    }
    vi.unstubAllGlobals();
  });
});
