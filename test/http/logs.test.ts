import { expect, test } from 'vitest';
import { startService } from '../support/service.ts';
import { skillMd } from '../support/skills.ts';
import { watchedLogs } from '../support/watched-logs.ts';

// Every service that tests start fails on `close` when a line of its log held what these tests look for.

const KEY = `sb_abcdefghijkl_${'k'.repeat(43)}`;

test.each([
  ['a key', { tenant: 'acme', detail: `no such key: ${KEY}` }],
  ['a key as the name of a field', { [KEY]: true }],
  ['a header', { headers: [{ authorization: 'Bearer whatever' }] }],
  ['a token', { err: { message: 'refused eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhIn0.c2ln' } }],
  ['a signed URL', { path: '/_uploads/x?X-Amz-Signature=0123abcd' }],
  ['a SKILL.md', { err: { cause: { message: skillMd('pay-invoices') } } }],
])('[D7] %s in a log is found, however deep', (_, line) => {
  expect(watchedLogs().leaks([{ msg: 'request', status: 200 }, line])).toHaveLength(1);
});

test('[D7] what a test sent or was given as a secret is found without a known form', () => {
  const watched = watchedLogs();
  watched.add('correct horse battery');
  expect(watched.leaks([{ msg: 'upload', note: 'it was correct horse battery staple' }])).toHaveLength(1);
  expect(watched.leaks([{ msg: 'upload', note: 'correct' }])).toEqual([]);
});

test('[D7] a service whose log held a secret does not close in peace', async () => {
  const service = await startService({
    wrap: (objects) => ({
      ...objects,
      get: () => Promise.reject(new Error(`the bucket was asked with ${KEY}`)),
    }),
  });
  const key = await service.issue('acme');
  const answer = await service.app.request('http://service.test/v1/catalog', {
    headers: { authorization: `Bearer ${key}` },
  });
  expect(answer.status).toBeGreaterThanOrEqual(500);
  await expect(service.close()).rejects.toThrow('[D7] The log holds secrets or bodies');
});
