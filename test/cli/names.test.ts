import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { temporaryFolders } from '../sources/folders.ts';
import { zipOf } from '../support/archive-bytes.ts';
import type { Listening } from '../support/listening.ts';
import { appListener, listening } from '../support/listening.ts';
import type { TestService } from '../support/service.ts';
import { startService } from '../support/service.ts';
import { skillMd } from '../support/skills.ts';
import { skillbucket } from '../support/terminal.ts';

const folder = temporaryFolders();

let service: TestService;
let server: Listening;
let env: Record<string, string>;
beforeAll(async () => {
  service = await startService();
  server = await listening(appListener(service.app));
  env = { SKILLBUCKET_URL: server.url, SKILLBUCKET_KEY: await service.issue('acme') };
});
afterAll(async () => {
  await server.close();
  await service.close();
});

/** What a terminal must not get from others: it would obey, or show something else than is there. */
// eslint-disable-next-line no-control-regex -- control characters are just what this looks for
const OBEYED = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/;
const DEEP = `${'d'.repeat(200)}/${'e'.repeat(200)}/${'f'.repeat(120)}`;
const REFUSED: readonly (readonly [string, string, string])[] = [
  ['a backslash', 'a\\b.md', 'backslash'],
  ['an escape', 'a\u001b[31mb.md', 'control character'],
  ['a line break', 'a\nValid: 1 skill', 'control character'],
  ['DEL', 'a\u007f.md', 'control character'],
  ['a C1 control', 'a\u009b31m.md', 'U+009B'],
  ['an override', 'a\u202egpj.exe', 'U+202E'],
  ['an isolate', 'a\u2066b.md', 'U+2066'],
  ['a mark', 'a\u200fb.md', 'U+200F'],
  ['a line separator', 'a\u2028b.md', 'U+2028'],
  ['more than 512 bytes', `${DEEP}.md`, 'a path may have 512'],
  ['a folder with an override', 'a\u202eb/c.md', 'U+202E'],
];

describe('[D5] names that publishing refuses, every command refuses, in a folder as in an archive', () => {
  test.each(REFUSED)('%s', async (_, name, why) => {
    const files = { 'demo/SKILL.md': skillMd('demo'), [`demo/${name}`]: 'x' };
    const source = await folder(files);
    const archive = path.join(await folder({ 'a.zip': zipOf(files) }), 'a.zip');
    const data = await folder();
    // In a zip it is how some systems write the `/`.
    for (const given of name.includes('\\') ? [source] : [source, archive]) {
      const ways: readonly (readonly [readonly string[], Record<string, string>])[] = [
        [['validate', given], {}],
        [['validate', given, '--lenient'], {}],
        [['index', given], {}],
        [['publish', given, '--bundle', 'b', '--data-dir', data], {}],
        [['publish', given, '--bundle', 'b', '--data-dir', data, '--dry-run'], {}],
        [['publish', given, '--bundle', 'b'], env],
        [['publish', given, '--bundle', 'b', '--dry-run', '--lenient'], env],
      ];
      for (const [args, environment] of ways) {
        const { code, out, err } = await skillbucket(args, environment);
        expect([args[0], code, out]).toEqual([args[0], 1, '']);
        if (given === source) {
          expect(err).toContain(why);
          expect(err).toContain('fix: Rename the file');
        }
        expect(err).not.toMatch(OBEYED);
        expect(err).not.toMatch(/^Valid: /m);
      }
    }
    const { out } = await skillbucket(['validate', source, '--json']);
    expect(JSON.parse(out)).toMatchObject({
      valid: false,
      results: [{ findings: [{ severity: 'error', code: 'invalid_resource_path', file: `demo/${name}` }] }],
    });
    expect(out).not.toMatch(OBEYED);
  });

  test('a skill whose own folder has such a name', async () => {
    const source = path.join(await folder({ 'a\u202eb/SKILL.md': skillMd('demo') }), 'a\u202eb');
    const { code, err } = await skillbucket(['validate', source, '--lenient']);
    expect([code, err]).toEqual([1, expect.stringContaining('U+202E')]);
    expect(err).not.toMatch(OBEYED);
  });

  test.each(['مرحبا.md', '日本語.md', 'e\u0301.md', 'a b.md', '👩‍🚀.md', `${'d'.repeat(200)}/x.md`])(
    '%s is a good name',
    async (name) => {
      const source = await folder({ 'demo/SKILL.md': skillMd('demo'), [`demo/${name}`]: 'x' });
      expect((await skillbucket(['validate', source])).code).toBe(0);
      const published = await skillbucket(['publish', source, '--bundle', 'good', '--json'], env);
      expect(JSON.parse(published.out)).toMatchObject({ files: 2 });
    },
  );
});

describe('what files and servers say is shown, and not obeyed', () => {
  const HOSTILE = 'x\u001b]0;owned\u0007\u001b[2J\u009b31m\u202eevil\u2069\rover';

  test.each([
    ['list'],
    ['show', '/demo'],
    ['show', '/demo', '--body'],
    ['show', '/demo', '--body', '--json'],
    ['list', '', '--json'],
    ['validate'],
    ['validate', '', '--lenient', '--json'],
  ])('of a SKILL.md: %s %s %s', async (command, inside = '', ...more) => {
    const body = `---\nname: demo\ndescription: ${JSON.stringify(HOSTILE)}\nlicense: ${JSON.stringify(HOSTILE)}\n"k${HOSTILE.replaceAll('\u0007', '').slice(-9, -5)}": 1\n---\n\ttab\r\n${HOSTILE}\n`;
    const source = await folder({ 'demo/SKILL.md': body });
    const { out, err } = await skillbucket([command, `${source}${inside}`, ...more]);
    expect((out + err).replaceAll('\r\n', '\n')).not.toMatch(OBEYED);
  });

  test('a body without such characters is shown as it is', async () => {
    const instructions = '\tone\r\n  two שלום\n';
    const source = await folder({ 'demo/SKILL.md': `---\nname: demo\ndescription: d\n---\n${instructions}` });
    const { out } = await skillbucket(['show', `${source}/demo`, '--body']);
    expect(out.endsWith(`\n\n${instructions}`)).toBe(true);
  });

  test.each([
    ['publish', 422],
    ['publish', 503],
    ['tenants', 200],
    ['tenants', 403],
    ['keys', 200],
  ])('of a server: %s that answers %i', async (command, status) => {
    const one = {
      id: HOSTILE,
      name: HOSTILE,
      status: HOSTILE,
      created_at: HOSTILE,
      scopes: [HOSTILE],
      label: HOSTILE,
      limits: HOSTILE,
      last_used_at: HOSTILE,
      code: 'forbidden',
      detail: HOSTILE,
      tenants: [{ id: HOSTILE, name: HOSTILE, status: HOSTILE, created_at: HOSTILE }],
      keys: [{ id: HOSTILE, scopes: [HOSTILE], label: HOSTILE, created_at: HOSTILE, expires_at: HOSTILE }],
      findings: [{ severity: 'error', code: 'invalid_yaml', message: HOSTILE, file: HOSTILE, fix: HOSTILE }],
    };
    const hostile = await listening((_, response) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(one));
    });
    const source = await folder({ 'demo/SKILL.md': skillMd('demo') });
    const lines: Record<string, string[][]> = {
      publish: [['publish', source, '--bundle', 'team']],
      tenants: [
        ['tenants', 'list'],
        ['tenants', 'show', 'a'],
        ['tenants', 'suspend', 'a'],
        ['tenants', 'policy', 'a'],
        ['tenants', 'limits', 'a'],
      ],
      keys: [
        ['keys', 'list', '--tenant', 'a'],
        ['keys', 'revoke', 'b', '--tenant', 'a'],
      ],
    };
    for (const args of lines[command] ?? []) {
      for (const json of status === 503 ? [[]] : [[], ['--json']]) {
        const { out, err } = await skillbucket([...args, ...json, '--url', hostile.url, '--key', 'k']);
        expect(out + err).toContain('owned');
        expect(out + err).not.toMatch(OBEYED);
      }
    }
    await hostile.close();
  });
});
