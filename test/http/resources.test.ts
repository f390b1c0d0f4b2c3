import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { zipOf } from '../support/archive-bytes.ts';
import type { Caller } from '../support/call.ts';
import { callerOf, json } from '../support/call.ts';
import type { TestService } from '../support/service.ts';
import { startService } from '../support/service.ts';
import { skillMd } from '../support/skills.ts';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

/** Text that packs badly, so that the archive's ratio is not what is tested. */
const noise = (length: number): string => randomBytes(length).toString('base64').slice(0, length);

let service: TestService;
let acme: Caller;
let count = 0;

beforeAll(async () => {
  service = await startService();
  acme = callerOf(service.app, await service.issue('acme'));
});
afterAll(() => service.close());

/** Publishes one skill with these files, loads it in a new session, and returns how to read from it. */
async function loaded(files: Record<string, string | Uint8Array>, caller = acme) {
  const name = `skill-${(count += 1)}`;
  const inside = Object.fromEntries(
    Object.entries(files).map(([path, content]) => [`${name}/${path}`, content]),
  );
  const published = await caller.put(
    `/v1/bundles/${name}`,
    zipOf({ [`${name}/SKILL.md`]: skillMd(name), ...inside }),
  );
  expect(published.status).toBe(201);
  const context = { session_id: name };
  const skill = await json(await caller.post('/v1/tools/load_skill', { name, context }));
  const read = (relative_path: string, headers: Record<string, string> = {}) =>
    caller.post('/v1/tools/load_skill_resource', { name, relative_path, context }, headers);
  return { name, skill, read };
}

describe('POST /v1/tools/load_skill_resource', () => {
  test('[J19] needs the skill to be loaded in the same session', async () => {
    const { name, read } = await loaded({ 'a.md': 'a' });
    expect((await read('a.md')).status).toBe(200);
    const elsewhere = await acme.post('/v1/tools/load_skill_resource', {
      name,
      relative_path: 'a.md',
      context: { session_id: 'another' },
    });
    expect(elsewhere.status).toBe(409);
    expect(await json(elsewhere)).toMatchObject({ code: 'skill_not_activated' });
    await acme.delete(`/v1/sessions/${name}`);
    expect(await json(await read('a.md'))).toMatchObject({ code: 'skill_not_activated' });
  });

  test('text is in content, with kind, type, size and digest', async () => {
    const { read } = await loaded({ 'references/héllo 100%.md': '# Héllo\n' });
    expect(await json(await read('references/héllo 100%.md'))).toEqual({
      name: expect.any(String) as string,
      relative_path: 'references/héllo 100%.md',
      kind: 'text',
      mime_type: 'text/markdown',
      filename: 'héllo 100%.md',
      size: 9,
      digest: expect.stringMatching(/^sha256:/) as string,
      content: '# Héllo\n',
    });
  });

  test('costs one item read and one object read, also in a process that knows nothing', async () => {
    const { name } = await loaded({ 'a.md': 'a', 'b.md': 'b' });
    const cold = callerOf(service.anotherProcess(), await service.issue('acme'));
    await cold.get('/v1/bundles');
    service.counts.reset();
    const answer = await cold.post('/v1/tools/load_skill_resource', {
      name,
      relative_path: 'b.md',
      context: { session_id: name },
    });
    expect(answer.status).toBe(200);
    expect(service.counts.objects).toMatchObject({ get: 1, put: 0, list: 0, bytes: 1 });
    expect(service.counts.table).toMatchObject({ get: 1, put: 0, set: 0, query: 0 });
  });

  test.each([
    ['/etc/passwd', 'invalid_resource_path', 422],
    ['C:\\x', 'invalid_resource_path', 422],
    ['../other/.env', 'invalid_resource_path', 422],
    ['a/../../b', 'invalid_resource_path', 422],
    ['..%2F..%2Fb', 'invalid_resource_path', 422],
    ['%252e%252e%252fb', 'invalid_resource_path', 422],
    ['a\\b', 'invalid_resource_path', 422],
    ['a\u0000.md', 'invalid_resource_path', 422],
    ['', 'invalid_resource_path', 422],
    ['./a.md', 'invalid_resource_path', 422],
    ['SKILL.md', 'skill_md_not_a_resource', 422],
    ['skill.md', 'skill_md_not_a_resource', 422],
    ['nope.md', 'resource_not_listed', 403],
    ['A.md', 'resource_not_listed', 403],
  ])('[J20] refuses %j as %s', async (path, code, status) => {
    const { read } = await loaded({ 'a.md': 'a' });
    const answer = await read(path);
    expect(answer.status).toBe(status);
    expect(await json(answer)).toMatchObject({ code });
  });

  test('[J20] a resource_id, both selectors, or none are refused', async () => {
    const { name } = await loaded({ 'a.md': 'a' });
    const context = { session_id: name };
    const call = (body: object) => acme.post('/v1/tools/load_skill_resource', { name, context, ...body });
    expect(await json(await call({ resource_id: 'x' }))).toMatchObject({ code: 'resource_not_listed' });
    expect(await json(await call({}))).toMatchObject({ code: 'invalid_request' });
    expect(await json(await call({ resource_id: 'x', relative_path: 'a.md' }))).toMatchObject({
      code: 'invalid_request',
    });
  });

  test('[J20] [J21] sizes: 1 MiB a file, 256 KiB of text, at the limit and over it', async () => {
    const { read } = await loaded({
      'ok.txt': noise(262_144),
      'long.txt': noise(262_145),
      'huge.txt': noise(1_048_577),
    });
    expect((await read('ok.txt')).status).toBe(200);
    const long = await read('long.txt');
    expect(long.status).toBe(413);
    expect(await json(long)).toMatchObject({ code: 'text_too_large', size: 262_145, limit: 262_144 });
    expect(await json(await read('huge.txt'))).toMatchObject({ code: 'file_too_large', limit: 1_048_576 });
  });

  test('[J20] binary is rejected by default, whatever its name says', async () => {
    const { read, skill } = await loaded({
      'logo.png': PNG,
      'data.txt': Uint8Array.from([0xa1, 0xaa, 0x00]),
      'fake.png': Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0xff]),
    });
    expect(skill['resources']).toMatchObject({ complete: true });
    expect(await json(await read('logo.png'))).toMatchObject({ code: 'binary_rejected' });
    expect(await json(await read('data.txt'))).toMatchObject({ code: 'binary_rejected' });
    expect(await json(await read('fake.png'))).toMatchObject({ code: 'signature_mismatch' });
  });

  test.each(['BM is a short note', 'GIF is a format', '%PDF markers', ''])(
    'text %j is text',
    async (content) => {
      const { read } = await loaded({ 'note.md': content });
      expect(await json(await read('note.md'))).toMatchObject({ kind: 'text', content });
    },
  );
});

describe('octet-stream', () => {
  const RAW = { accept: 'application/octet-stream' };

  test('exact bytes, inert headers, ETag, ranges', async () => {
    const bytes = Buffer.from('0123456789\r\n\ufeff漢字');
    const { read } = await loaded({ 'assets/pa"ge é.html': bytes });
    const whole = await read('assets/pa"ge é.html', RAW);
    expect(Buffer.from(await whole.arrayBuffer()).equals(bytes)).toBe(true);
    expect(whole.headers.get('content-type')).toBe('application/octet-stream');
    expect(whole.headers.get('content-disposition')).toBe(
      `attachment; filename="pa_ge__.html"; filename*=UTF-8''pa%22ge%20%C3%A9.html`,
    );
    expect(whole.headers.get('x-content-type-options')).toBe('nosniff');
    expect(whole.headers.get('content-security-policy')).toBe("default-src 'none'; sandbox");
    const etag = whole.headers.get('etag') ?? '';
    const part = await read('assets/pa"ge é.html', { ...RAW, range: 'bytes=2-5' });
    expect(part.status).toBe(206);
    expect(await part.text()).toBe('2345');
    expect(part.headers.get('content-range')).toBe(`bytes 2-5/${bytes.length}`);
    expect(await (await read('assets/pa"ge é.html', { ...RAW, range: 'bytes=-6' })).text()).toBe('漢字');
    expect((await read('assets/pa"ge é.html', { ...RAW, range: 'bytes=8-', 'if-range': etag })).status).toBe(
      206,
    );
    expect(
      (await read('assets/pa"ge é.html', { ...RAW, range: 'bytes=8-', 'if-range': '"old"' })).status,
    ).toBe(200);
    expect((await read('assets/pa"ge é.html', { ...RAW, range: 'bytes=1-2,4-5' })).status).toBe(200);
    const outside = await read('assets/pa"ge é.html', { ...RAW, range: 'bytes=999-' });
    expect(outside.status).toBe(416);
    expect(outside.headers.get('content-range')).toBe(`bytes */${bytes.length}`);
  });
});

describe('[J21] listings', () => {
  test('a limit that is reached makes the listing incomplete and is named; unlisted files cannot be loaded', async () => {
    const many = Object.fromEntries(
      Array.from({ length: 300 }, (_, index) => [`references/${1000 + index}.md`, 'x']),
    );
    const { skill, read } = await loaded({
      ...many,
      'a/b/c/d/e/f/g/h/deep.md': 'x',
      'a/b/c/d/e/f/g/h/i/deeper.md': 'x',
    });
    const listing = skill['resources'] as { resources: { relative_path: string }[] };
    expect(listing).toMatchObject({
      complete: false,
      truncated: true,
      truncation_reasons: ['max_depth', 'max_resources'],
      limits: { max_resources: 256, max_depth: 8, max_directories: 1024, max_listing_bytes: 65_536 },
    });
    expect(listing.resources).toHaveLength(256);
    expect(listing.resources[0]?.relative_path).toBe('a/b/c/d/e/f/g/h/deep.md');
    const last = listing.resources.at(-1)?.relative_path ?? '';
    expect((await read(last)).status).toBe(200);
    expect(await json(await read('references/1299.md'))).toMatchObject({ code: 'resource_not_listed' });
    expect(await json(await read('a/b/c/d/e/f/g/h/i/deeper.md'))).toMatchObject({
      code: 'resource_not_listed',
    });
  });

  test('[D3] a listing too large for an item is still the one that was authorized', async () => {
    const many = Object.fromEntries(
      Array.from({ length: 150 }, (_, index) => [`references/${'n'.repeat(60)}${index}.md`, `${index}`]),
    );
    const { name, read } = await loaded(many);
    const cold = callerOf(service.anotherProcess(), await service.issue('acme'));
    const relative_path = `references/${'n'.repeat(60)}149.md`;
    expect((await json(await read(relative_path)))['content']).toBe('149');
    const answer = await cold.post('/v1/tools/load_skill_resource', {
      name,
      relative_path,
      context: { session_id: name },
    });
    expect((await json(answer))['content']).toBe('149');
  });
});

describe('a policy that allows binary', () => {
  test('content is in parts, and the tool payload holds no raw bytes', async () => {
    const allowing = await startService({ resources: { binary: 'allow' } });
    try {
      const caller = callerOf(allowing.app, await allowing.issue('acme'));
      const { read } = await loaded(
        { 'logo.png': PNG, 'x.bin': Uint8Array.from([0, 1, 2]), 'wrong.gif': PNG },
        caller,
      );
      const image = await json(await read('logo.png'));
      expect(image).toMatchObject({ kind: 'image', mime_type: 'image/png', size: PNG.length });
      expect(image).not.toHaveProperty('content');
      expect(image['content_parts']).toEqual([
        { type: 'image', mime_type: 'image/png', filename: 'logo.png', data: PNG.toString('base64') },
      ]);
      expect(await json(await read('x.bin'))).toMatchObject({
        kind: 'file',
        mime_type: 'application/octet-stream',
      });
      expect(await json(await read('wrong.gif'))).toMatchObject({ code: 'signature_mismatch' });
      const raw = await read('logo.png', { accept: 'application/octet-stream' });
      expect(Buffer.from(await raw.arrayBuffer()).equals(PNG)).toBe(true);
    } finally {
      await allowing.close();
    }
  });
});
