import { Hono } from 'hono';
import { describe, expect, test, vi } from 'vitest';
import { lambdaHandler } from '../../src/http/lambda.ts';
import type { AppEnv } from '../../src/http/route.ts';
import { eventOf } from '../support/lambda-event.ts';
import { TRANSPORTS } from '../support/lambda-transport.ts';

const BYTES = Buffer.from([0, 0xff, 0xfe, 0x80, 0x0a]);

/** Answers that the service does not give yet; no event source may mangle them. */
const app = new Hono<AppEnv>();
app
  .get('/cookies', (context) => {
    context.header('set-cookie', 'a=1; Path=/', { append: true });
    context.header('set-cookie', 'b=2; Expires=Tue, 01 Dec 2026 00:00:00 GMT', { append: true });
    context.header('link', '</a>; rel=next', { append: true });
    context.header('link', '</b>; rel=prev', { append: true });
    return context.text(context.req.header('cookie') ?? '');
  })
  .get('/untyped', (context) => context.body(new Uint8Array(BYTES), 418))
  .get('/buffer', () => new Response(new Uint8Array(BYTES), { headers: { 'content-type': 'image/png' } }))
  .get('/gzip', (context) =>
    context.body(new Uint8Array(BYTES), 200, {
      'content-encoding': 'gzip',
      'content-type': 'application/json',
    }),
  )
  .get('/redirect', (context) => context.redirect('https://example.com/signed', 307))
  .get('/throws', () => {
    // eslint-disable-next-line @typescript-eslint/only-throw-error -- the one kind that Hono lets pass
    throw 'a string that tells secrets';
  })
  .all('/size', async (context) => context.text(String((await context.req.arrayBuffer()).byteLength)));

describe.each(TRANSPORTS)('[D2] any app through $name', ({ source, isBuffered, handlerOf }) => {
  const send = handlerOf(app);
  const get = (target: string, headers: (readonly [string, string])[] = []) =>
    send({ method: 'GET', target, headers });

  test('cookies both ways, and headers that repeat', async () => {
    const answer = await get('/cookies', [['cookie', 'x=1; y=2']]);
    expect(answer.bytes.toString()).toBe('x=1; y=2');
    expect(answer.headers.get('link')).toBe('</a>; rel=next, </b>; rel=prev');
    // Without multi-value headers a load balancer takes one of a name.
    const cookies = ['a=1; Path=/', 'b=2; Expires=Tue, 01 Dec 2026 00:00:00 GMT'];
    expect(answer.headers.getSetCookie()).toEqual(source === 'ALB' ? cookies.slice(0, 1) : cookies);
  });

  test.each([
    ['/buffer', 200],
    ['/gzip', 200],
    ['/untyped', 418],
  ])('bytes by type or encoding, or without a type: %s', async (target, status) => {
    const answer = await get(target);
    expect(answer.status).toBe(status);
    expect(answer.headers.has('content-type')).toBe(true);
    expect(answer.bytes.equals(BYTES)).toBe(true);
    if (isBuffered) expect(answer.isBase64Encoded).toBe(true);
  });

  test('a redirect', async () => {
    const answer = await get('/redirect');
    expect([answer.status, answer.headers.get('location'), answer.bytes.length]).toEqual([
      307,
      'https://example.com/signed',
      0,
    ]);
  });

  test('what is thrown and is no Error is told as internal, and said to nobody', async () => {
    const log = vi.spyOn(console, 'error').mockReturnValue();
    const answer = await get('/throws');
    expect([answer.status, answer.headers.get('content-type')]).toEqual([500, 'application/problem+json']);
    expect(JSON.parse(answer.bytes.toString())).toMatchObject({ code: 'internal' });
    expect(answer.bytes.toString()).not.toContain('secrets');
    expect(log).toHaveBeenCalledOnce();
    log.mockRestore();
  });

  test.each([0, 1, 2, 3, 4, 5, 255, 1_000_000])('a body of %d bytes', async (length) => {
    const answer = await send({ method: 'POST', target: '/size', body: new Uint8Array(length).fill(0xa5) });
    expect(answer.bytes.toString()).toBe(String(length));
  });
});

test("[D2] a load balancer's health check, which has no host", async () => {
  const event = {
    requestContext: {
      elb: { targetGroupArn: 'arn:aws:elasticloadbalancing:eu-central-1:1:targetgroup/t/1' },
    },
    httpMethod: 'GET',
    path: '/size',
    queryStringParameters: {},
    headers: { 'user-agent': 'ELB-HealthChecker/2.0' },
    body: '',
    isBase64Encoded: false,
  };
  expect(await lambdaHandler(app)(event)).toMatchObject({ statusCode: 200, statusDescription: '200 OK' });
});

test('[D2] an HTTP API: the stage goes, and nothing else that looks like it', async () => {
  const paths = new Hono<AppEnv>();
  paths.all('*', (context) => context.text(new URL(context.req.url).pathname));
  const handler = lambdaHandler(paths);
  const pathOf = async (rawPath: string, stage: string) => {
    const event = eventOf['HTTP API']({ method: 'GET', target: '/' });
    const requestContext = { ...event.requestContext, stage };
    return (await handler({ ...event, rawPath, requestContext })).body;
  };
  expect(await pathOf('/prod/v1/catalog', 'prod')).toBe('/v1/catalog');
  expect(await pathOf('/prod', 'prod')).toBe('/');
  expect(await pathOf('/prod/', 'prod')).toBe('/');
  expect(await pathOf('/production/x', 'prod')).toBe('/production/x');
  expect(await pathOf('/v1/catalog', 'prod')).toBe('/v1/catalog');
  expect(await pathOf('/v1/100%/ü#x', '$default')).toBe('/v1/100%25/%C3%BC%23x');
});
