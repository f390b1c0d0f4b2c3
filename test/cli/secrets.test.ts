import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { temporaryFolders } from '../sources/folders.ts';
import type { Listening } from '../support/listening.ts';
import { listening } from '../support/listening.ts';
import { skillMd } from '../support/skills.ts';
import { skillbucket } from '../support/terminal.ts';

const folder = temporaryFolders();
const SECRET = 'Zq4vR7tW1xY8sLpN';
const KEY = `sb_abcdefghijkl_${SECRET}${SECRET}abcdefghijk`;

let server: Listening;
let requests = 0;
let answer = '{}';
beforeAll(async () => {
  server = await listening((_, response) => {
    requests += 1;
    response.writeHead(403, { 'content-type': 'application/problem+json' }).end(answer);
  });
});
afterAll(() => server.close());

/** Every command that talks to a service, each with the URL and key that a test gives. */
const COMMANDS: readonly (readonly [string, () => Promise<string[]>])[] = [
  [
    'publish',
    async () => ['publish', await folder({ 'demo/SKILL.md': skillMd('demo') }), '--bundle', 'team'],
  ],
  ['tenants', () => Promise.resolve(['tenants', 'list'])],
  ['keys', () => Promise.resolve(['keys', 'list', '--tenant', 'acme'])],
];

describe.each(COMMANDS)('%s prints no secret', (_, command) => {
  const run = async (url: string, key: string, given: 'options' | 'environment') =>
    given === 'options'
      ? skillbucket([...(await command()), '--url', url, '--key', key])
      : skillbucket(await command(), { SKILLBUCKET_URL: url, SKILLBUCKET_KEY: key });

  test.each([
    ['a line break inside', `${KEY}\n${SECRET}`],
    ['a carriage return at the end', `${KEY}\r`],
    ['a space before', ` ${KEY}`],
    ['quotes around', `"${KEY}"`],
    ['a letter of another script', `${KEY}ä`],
    ['a NUL', `${KEY}\0`],
  ])('of a key with %s: nothing is sent, and it could not run', async (_name, key) => {
    for (const given of ['options', 'environment'] as const) {
      requests = 0;
      const { code, out, err } = await run(server.url, key, given);
      expect({ code, out, requests }).toEqual({ code: 2, out: '', requests: 0 });
      expect(err).toContain('The key holds characters');
      expect(err).not.toContain(SECRET);
    }
  });

  test.each([
    ['user and password', `//user:${SECRET}@`],
    ['a user', `//${SECRET}@`],
    ['a password with @', `//user:p@${SECRET}@`],
    ['a password with /', `//user:/${SECRET}@`],
  ])('of a URL with %s: nothing is sent, and it could not run', async (_name, userinfo) => {
    for (const given of ['options', 'environment'] as const) {
      requests = 0;
      const { code, out, err } = await run(server.url.replace('//', userinfo), KEY, given);
      expect({ code, out, requests }).toEqual({ code: 2, out: '', requests: 0 });
      expect(err).not.toContain(SECRET);
      expect(err).not.toMatch(/\n {4}at /);
    }
  });

  test.each([['text'], ['json']])('that the service repeats to it, told as %s', async (form) => {
    const detail = `Bearer ${KEY} and https://u:${SECRET}@example.org/?X-Amz-Signature=${SECRET}`;
    answer = JSON.stringify({ code: 'forbidden', detail });
    const { code, out, err } = await skillbucket(
      [...(await command()), '--url', server.url, ...(form === 'json' ? ['--json'] : [])],
      { SKILLBUCKET_KEY: KEY },
    );
    expect([code, err]).toEqual([1, expect.stringContaining('forbidden')]);
    expect(out + err).not.toContain(SECRET);
  });
});

test('a key in the place of a command or of an argument is not repeated', async () => {
  for (const args of [[KEY], ['serve', KEY], ['keys', 'list', `--${KEY}`], ['help', KEY]]) {
    const { code, out, err } = await skillbucket(args);
    expect(code).toBe(2);
    expect(out + err).not.toContain(SECRET);
  }
});

describe('settings that are not valid', () => {
  test.each([
    ['PORT', 'many'],
    ['PORT', '70000'],
    ['SKILLBUCKET_URL', 'example.org'],
    ['SKILLBUCKET_URL', 'ftp://example.org'],
    ['SKILLBUCKET_MAX_TOKENS', '0'],
    ['SKILLBUCKET_MAX_TOKENS', '1.5'],
    ['SKILLBUCKET_LOG_LEVEL', 'loud'],
    ['SKILLBUCKET_BINARY', 'maybe'],
  ])('%s=%s: named, could not run, no stack', async (name, value) => {
    for (const args of [['serve'], ['publish', '.', '--bundle', 'team'], ['tenants', 'list']]) {
      const { code, out, err } = await skillbucket(args, { [name]: value });
      expect({ code, out }).toEqual({ code: 2, out: '' });
      expect(err).toContain(name);
      expect(err).not.toMatch(/\n {4}at /);
    }
  });
});

describe('URLs that are none', () => {
  test.each([
    'http://example.org ',
    ' http://example.org',
    'http://exa mple.org',
    'http://',
    'http:/x',
    'http://x:99999',
    'http://x?a=b',
    'http://x#y',
    'file:///etc',
    '',
  ])('%j: from an option, an outputs file and the environment, it could not run', async (url) => {
    const source = await folder({ 'demo/SKILL.md': skillMd('demo') });
    const outputs = path.join(await folder(), 'outputs.json');
    await writeFile(
      outputs,
      JSON.stringify({ one: { Url: url, BucketName: 'b', TableName: 't', Region: 'eu-west-1' } }),
    );
    const ways = [
      skillbucket(['publish', source, '--bundle', 'team', '--key', KEY, '--url', url]),
      skillbucket(['publish', source, '--bundle', 'team', '--key', KEY, '--outputs', outputs]),
      skillbucket(['tenants', 'list', '--key', KEY, '--url', url]),
      // Empty means unset there, and spaces around are nothing.
      ...(url === '' || url.trim() !== url
        ? []
        : [skillbucket(['tenants', 'list', '--key', KEY], { SKILLBUCKET_URL: url })]),
    ];
    for (const { code, out, err } of await Promise.all(ways)) {
      expect({ code, out }).toEqual({ code: 2, out: '' });
      expect(err).toContain('URL');
      expect(err).not.toMatch(/\n {4}at /);
    }
  });
});
