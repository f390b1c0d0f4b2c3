import { Hono } from 'hono';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AppEnv } from '../../src/http/route.ts';
import { zipOf } from '../support/archive-bytes.ts';
import type { WireAnswer } from '../support/lambda-answer.ts';
import { TRANSPORTS } from '../support/lambda-transport.ts';
import type { TestService } from '../support/service.ts';
import { startService } from '../support/service.ts';
import { skillMd } from '../support/skills.ts';

const SIGNATURE =
  'AWS4-HMAC-SHA256 Credential=AKIA/20261201/eu-central-1/lambda/aws4_request, SignedHeaders=host, Signature=0f';

/** Tells what an app sees: the header that it asks for, and whether the moved one is anywhere. */
const echo = new Hono<AppEnv>();
echo.get('/', (context) =>
  context.json({
    authorization: context.req.header('authorization') ?? null,
    moved: /x-skillbucket-authorization/i.test(
      JSON.stringify([context.req.header(), (context.env as { event: unknown }).event]),
    ),
  }),
);

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

const shown = (answer: WireAnswer) => JSON.parse(answer.bytes.toString()) as Record<string, unknown>;

describe.each(TRANSPORTS)('[D2] the credential in events of $name', ({ source, handlerOf }) => {
  const seen = async (...headers: (readonly [string, string])[]) =>
    shown(await handlerOf(echo)({ method: 'GET', target: '/', headers }));

  test('the moved one is the one that counts, in any case and order', async () => {
    for (const name of ['x-skillbucket-authorization', 'X-Skillbucket-Authorization']) {
      const moved = [name, 'Bearer caller'] as const;
      const signed = ['Authorization', SIGNATURE] as const;
      const expected = { authorization: 'Bearer caller', moved: false };
      expect(await seen(moved)).toEqual(expected);
      expect(await seen(moved, signed)).toEqual(expected);
      expect(await seen(signed, moved)).toEqual(expected);
    }
  });

  test('without it Authorization stays', async () => {
    expect(await seen(['authorization', 'Bearer caller'])).toEqual({
      authorization: 'Bearer caller',
      moved: false,
    });
    expect(await seen()).toEqual({ authorization: null, moved: false });
  });

  test('an empty one does not fall back, two are none', async () => {
    const empty = await seen(['x-skillbucket-authorization', ''], ['authorization', 'Bearer other']);
    expect(empty['authorization'] ?? '').toBe('');
    const two = await seen(
      ['x-skillbucket-authorization', 'Bearer a'],
      ['x-skillbucket-authorization', 'Bearer b'],
    );
    // Without multi-value headers a load balancer passes the last one alone.
    expect(two['authorization']).toMatch(source === 'ALB' ? /^Bearer b$/ : /^Bearer a, ?Bearer b$/);
  });

  test("the service knows the caller by it; CloudFront's own signature is nobody's", async () => {
    const key = await service.issue('acme');
    const send = handlerOf(service.app);
    const target = '/v1/catalog';
    const signed = ['authorization', SIGNATURE] as const;
    const moved = ['x-skillbucket-authorization', `Bearer ${key}`] as const;
    expect((await send({ method: 'GET', target, headers: [signed, moved] })).status).toBe(200);
    expect((await send({ method: 'GET', target, headers: [signed] })).status).toBe(401);
  });

  test('nothing of a caller stays in a warm function', async () => {
    const send = handlerOf(service.app);
    const asked = ['acme', 'globex'].map(async (tenant) => {
      const headers = [['authorization', `Bearer ${await service.issue(tenant)}`]] as const;
      const body = zipOf({ [`${tenant}-skill/SKILL.md`]: skillMd(`${tenant}-skill`) });
      await send({ method: 'PUT', target: '/v1/bundles/main', headers, body });
      for (let round = 0; round < 10; round += 1) {
        const answers = await Promise.all([
          send({ method: 'GET', target: '/v1/catalog', headers }),
          send({ method: 'GET', target: '/v1/catalog' }),
        ]);
        expect(answers.map((answer) => answer.status)).toEqual([200, 401]);
        expect(shown(answers[0])['skills']).toMatchObject([{ name: `${tenant}-skill` }]);
      }
    });
    await Promise.all(asked);
  });
});

test('[D2] an event that has both forms of headers, of which one alone has the moved credential', async () => {
  const requestContext = { domainName: 'x.execute-api.eu-central-1.amazonaws.com' };
  const base = { requestContext, httpMethod: 'GET', path: '/', body: null, isBase64Encoded: false };
  const send = TRANSPORTS.find(({ source }) => source === 'REST API')?.handlerOf(echo);
  for (const event of [
    {
      ...base,
      headers: { 'X-Skillbucket-Authorization': 'Bearer caller', Authorization: SIGNATURE },
      multiValueHeaders: { AUTHORIZATION: [SIGNATURE] },
    },
    {
      ...base,
      headers: { authorization: SIGNATURE },
      multiValueHeaders: { 'x-SKILLBUCKET-authorization': ['Bearer caller'] },
    },
    { ...base, headers: null, multiValueHeaders: { 'x-skillbucket-authorization': ['Bearer caller'] } },
    { ...base, headers: { 'x-skillbucket-authorization': 'Bearer caller' }, multiValueHeaders: null },
  ]) {
    expect(JSON.parse(((await send?.(event))?.bytes ?? '').toString())).toEqual({
      authorization: 'Bearer caller',
      moved: false,
    });
  }
});
