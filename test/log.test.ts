import { expect, test } from 'vitest';
import { SkillError } from '../src/core/errors.ts';
import type { LogLevel } from '../src/log.ts';
import { createLogger, terminalLines } from '../src/log.ts';

function linesOf(level: LogLevel): {
  readonly lines: string[];
  readonly logger: ReturnType<typeof createLogger>;
} {
  const lines: string[] = [];
  return { lines, logger: createLogger(level, { write: (line) => lines.push(line) }) };
}

test('a line is a JSON object with level, time, fields and message; what is undefined is left out', () => {
  const { lines, logger } = linesOf('info');
  logger.info({ tenant: 'acme', code: undefined, text: 'a\n"b"' }, 'request');
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatch(/^\{"level":"info","time":"\d{4}-\d\d-\d\dT[\d:.]+Z",[^\n]+\}\n$/);
  expect(JSON.parse(lines[0] ?? '')).toEqual({
    level: 'info',
    time: expect.any(String) as string,
    tenant: 'acme',
    text: 'a\n"b"',
    msg: 'request',
  });
});

test.each([
  ['debug', 4],
  ['info', 3],
  ['warn', 2],
  ['error', 1],
  ['silent', 0],
] as const)('level %s leaves %i of the four', (level, count) => {
  const { lines, logger } = linesOf(level);
  for (const own of ['debug', 'info', 'warn', 'error'] as const) logger[own]({}, own);
  expect(lines).toHaveLength(count);
});

test('an error comes with its name, stack and causes, and with what AWS says of the request', () => {
  const { lines, logger } = linesOf('info');
  const denied = Object.assign(new Error('Access Denied'), {
    name: 'AccessDenied',
    $metadata: { httpStatusCode: 403, requestId: 'r' },
    $response: { headers: { authorization: 'secret' } },
  });
  logger.error({ err: new SkillError('unavailable', { cause: denied }) }, 'request failed');
  logger.error({ err: 'just words' }, 'request failed');
  const [first, second] = lines.map((line) => JSON.parse(line) as { err: unknown });
  expect(first?.err).toEqual({
    type: 'SkillError',
    message: 'The service cannot answer now.',
    stack: expect.stringContaining('log.test.ts') as string,
    code: 'unavailable',
    cause: {
      type: 'AccessDenied',
      message: 'Access Denied',
      stack: expect.any(String) as string,
      aws: { httpStatusCode: 403, requestId: 'r' },
    },
  });
  expect(second?.err).toBe('just words');
  expect(lines.join('')).not.toContain('secret');
});

test('causes that go round in a circle end', () => {
  const { lines, logger } = linesOf('info');
  const error = new Error('round');
  error.cause = error;
  logger.error({ err: error }, 'request failed');
  expect(lines).toHaveLength(1);
});

test('at a terminal a request and an upload are one short line each, and a problem is told in full', () => {
  const lines: string[] = [];
  const logger = createLogger(
    'info',
    terminalLines((text) => lines.push(text)),
  );
  logger.info({ method: 'GET', route: '/v1/catalog', status: 200, tenant: 'acme', ms: 3 }, 'request');
  const upload = { tenant: 'acme', bundle: 'sql', upload: '8PIS7vwwYs4tq8Yw' };
  logger.info({ ...upload, outcome: 'published', revision: 2 }, 'upload');
  logger.info({ ...upload, outcome: 'refused', code: 'invalid_bundle' }, 'upload');
  logger.error({ err: new Error('disk') }, 'request failed');
  expect(lines.slice(0, 3).map((line) => line.replace(/^ {2}\d\d:\d\d:\d\d {2}/, ''))).toEqual([
    '200  GET     /v1/catalog  acme  3 ms\n',
    'upload  sql  acme  published  revision 2\n',
    'upload  sql  acme  refused  invalid_bundle\n',
  ]);
  expect(lines[3]).toContain('"message":"disk"');
});
