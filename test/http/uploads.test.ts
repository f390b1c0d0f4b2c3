import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fileKey } from '../../src/core/manifest/object-keys.ts';
import { sha256 } from '../../src/core/digests.ts';
import { tarGzOf, zipOf } from '../support/archive-bytes.ts';
import type { Caller } from '../support/call.ts';
import { callerOf, json } from '../support/call.ts';
import type { TestService } from '../support/service.ts';
import { startService } from '../support/service.ts';
import { skillMd } from '../support/skills.ts';
import { begin, hexDigest, send } from '../support/upload.ts';

let service: TestService;
let tenants = 0;

beforeAll(async () => {
  service = await startService({ events: false });
});
afterAll(() => service.close());

async function tenant(): Promise<Caller> {
  return callerOf(service.app, await service.issue(`tenant-${(tenants += 1)}`));
}
const direct = (url: string, init: RequestInit) => service.app.request(url, init);
const complete = (caller: Caller, id: string, body: object = {}, bundle = 'main') =>
  caller.post(`/v1/bundles/${bundle}/uploads/${id}/complete`, body);
const stateOf = async (caller: Caller, id: string, bundle = 'main') =>
  json(await caller.get(`/v1/bundles/${bundle}/uploads/${id}`));
const demo = (text: string) => zipOf({ 'demo/SKILL.md': skillMd('demo'), 'demo/references/a.md': text });
const served = async (caller: Caller) => {
  await caller.post('/v1/tools/load_skill', { name: 'demo', context: { session_id: 's' }, force: true });
  const response = await caller.post('/v1/tools/load_skill_resource', {
    name: 'demo',
    relative_path: 'references/a.md',
    context: { session_id: 's' },
  });
  const { content } = await json(response);
  await caller.delete('/v1/sessions/s');
  return content;
};
async function keysBut(part: string): Promise<string[]> {
  const keys: string[] = [];
  for await (const key of service.objects.list('')) if (!key.includes(part)) keys.push(key);
  return keys.sort();
}

describe('[D5] uploads: begin, put, complete', () => {
  test.each([
    ['zip', demo('one')],
    ['tar.gz', tarGzOf({ 'demo/SKILL.md': skillMd('demo'), 'demo/references/a.md': 'one' })],
  ])('publishes a %s, and tells every step', async (_, archive) => {
    const acme = await tenant();
    const ticket = await begin(acme, archive);
    expect(ticket).toMatchObject({
      status: 201,
      state: 'waiting',
      method: 'PUT',
      size: archive.length,
      sha256: `sha256:${hexDigest(archive)}`,
      mode: 'strict',
    });
    expect(await stateOf(acme, ticket.upload_id)).toMatchObject({ state: 'waiting' });
    const early = await complete(acme, ticket.upload_id);
    expect(early.status).toBe(409);
    expect(await json(early)).toMatchObject({ code: 'upload_incomplete' });

    const put = await direct(ticket.url, {
      method: 'PUT',
      headers: ticket.headers,
      body: new Uint8Array(archive),
    });
    expect(put.status).toBe(204);
    expect(await stateOf(acme, ticket.upload_id)).toMatchObject({ state: 'uploaded' });
    expect((await acme.get('/v1/bundles/main')).status).toBe(404);

    const done = await complete(acme, ticket.upload_id, { sha256: hexDigest(archive) });
    expect(done.status).toBe(201);
    const outcome = await json(done);
    expect(outcome).toMatchObject({ outcome: 'published', revision: 1, skills: 1, files: 2 });
    expect(await served(acme)).toBe('one');
    expect(await stateOf(acme, ticket.upload_id)).toMatchObject({ state: 'published', outcome });

    // Said again, it is the same answer and no second revision.
    const again = await complete(acme, ticket.upload_id);
    expect([again.status, await json(again)]).toEqual([201, outcome]);
    expect(await json(await acme.get('/v1/bundles/main'))).toMatchObject({ revision: 1, generation: 1 });
  });

  test('a refused archive leaves its findings and changes nothing', async () => {
    const acme = await tenant();
    await send(acme, direct, demo('good')).then((ticket) => complete(acme, ticket.upload_id));
    const before = await keysBut('/upload');
    const bad = zipOf({ 'demo/SKILL.md': '# no frontmatter\n', 'demo/a.md': 'x' });
    const ticket = await send(acme, direct, bad);
    const refused = await complete(acme, ticket.upload_id);
    expect(refused.status).toBe(422);
    expect(await json(refused)).toMatchObject({
      code: 'no_frontmatter',
      findings: [{ code: 'no_frontmatter', file: 'demo/SKILL.md' }],
    });
    expect(await stateOf(acme, ticket.upload_id)).toMatchObject({
      state: 'refused',
      problem: { code: 'no_frontmatter', status: 422, findings: [{ file: 'demo/SKILL.md' }] },
    });
    expect((await complete(acme, ticket.upload_id)).status).toBe(422);
    expect(await keysBut('/upload')).toEqual(before);
    expect(await served(acme)).toBe('good');
    // Sent again it is looked at again, by rules that may have changed.
    const retry = await begin(acme, bad);
    expect(retry).toMatchObject({ status: 201, state: 'waiting' });
    expect(retry.upload_id).not.toBe(ticket.upload_id);
  });

  test('what is no archive, or a damaged one, is refused the same way', async () => {
    const acme = await tenant();
    for (const [bytes, code] of [
      [Buffer.from('not an archive'), 'archive_invalid'],
      [demo('x').subarray(0, 100), 'archive_invalid'],
      [zipOf({ 'readme.md': 'nothing' }), 'no_skills_found'],
    ] as const) {
      const ticket = await send(acme, direct, bytes);
      expect(await json(await complete(acme, ticket.upload_id))).toMatchObject({ code });
    }
    expect((await acme.get('/v1/bundles/main')).status).toBe(404);
  });

  test('goes on where it stopped: the same upload is found, arrived or not', async () => {
    const acme = await tenant();
    const archive = demo('resumed');
    const first = await begin(acme, archive);
    const second = await begin(acme, archive);
    expect(second).toMatchObject({ status: 201, upload_id: first.upload_id });
    await direct(second.url, { method: 'PUT', headers: second.headers, body: new Uint8Array(archive) });
    const third = await begin(acme, archive);
    expect(third).toMatchObject({ status: 200, upload_id: first.upload_id, state: 'uploaded' });
    expect(third.url).toBeUndefined();
    await complete(acme, third.upload_id);
    // The bundle has moved on, so the same archive is a new upload; it changes nothing.
    const fourth = await send(acme, direct, archive);
    expect(fourth.upload_id).not.toBe(first.upload_id);
    const unchanged = await complete(acme, fourth.upload_id);
    expect(unchanged.status).toBe(200);
    expect(await json(unchanged)).toMatchObject({ outcome: 'unchanged', revision: 1 });
    expect(await stateOf(acme, fourth.upload_id)).toMatchObject({ state: 'unchanged' });
  });

  test('an upload that waited for days is not gone on with', async () => {
    const own = await startService({ events: false });
    try {
      const acme = callerOf(own.app, await own.issue('acme'));
      const first = await begin(acme, demo('old'));
      own.advance(36 * 60 * 60);
      expect((await begin(acme, demo('old'))).upload_id).not.toBe(first.upload_id);
    } finally {
      await own.close();
    }
  });

  test('A again after B is A again, and says so', async () => {
    const acme = await tenant();
    for (const [text, revision] of [
      ['A', 1],
      ['B', 2],
      ['A', 3],
      ['B', 4],
    ] as const) {
      const ticket = await send(acme, direct, demo(text));
      expect(await json(await complete(acme, ticket.upload_id))).toMatchObject({
        outcome: 'published',
        revision,
      });
      expect(await served(acme)).toBe(text);
    }
  });

  test('an upload never replaces what was begun after it', async () => {
    const acme = await tenant();
    const older = await send(acme, direct, demo('older'));
    service.advance(1);
    const newer = await send(acme, direct, demo('newer'));
    expect(await json(await complete(acme, newer.upload_id))).toMatchObject({
      outcome: 'published',
      revision: 1,
    });
    const late = await complete(acme, older.upload_id);
    expect(late.status).toBe(409);
    expect(await json(late)).toMatchObject({ code: 'revision_conflict' });
    expect(await served(acme)).toBe('newer');
    // Nor what was published directly, or rolled back to, in the meantime.
    const third = await send(acme, direct, demo('third'));
    service.advance(1);
    await acme.put('/v1/bundles/main', demo('by hand'));
    expect((await complete(acme, third.upload_id)).status).toBe(409);
    const fourth = await send(acme, direct, demo('fourth'));
    service.advance(1);
    await acme.post('/v1/bundles/main/rollback', { revision: 1 });
    expect((await complete(acme, fourth.upload_id)).status).toBe(409);
    expect(await served(acme)).toBe('newer');
  });

  test('nor what was wanted after it, also when that changed nothing', async () => {
    const acme = await tenant();
    await acme.put('/v1/bundles/main', demo('wanted'));
    const confirm: readonly (() => Promise<unknown>)[] = [
      () => acme.put('/v1/bundles/main', demo('wanted')),
      () => acme.post('/v1/bundles/main/rollback', { revision: 1 }),
      async () => complete(acme, (await send(acme, direct, demo('wanted'))).upload_id),
    ];
    for (const [index, again] of confirm.entries()) {
      service.advance(1);
      const older = await send(acme, direct, demo(`older ${index}`));
      service.advance(1);
      await again();
      const late = await complete(acme, older.upload_id);
      expect([late.status, (await json(late))['code']]).toEqual([409, 'revision_conflict']);
      expect(await served(acme)).toBe('wanted');
    }
    // Begun again, it is the latest that somebody wants.
    service.advance(1);
    const retried = await send(acme, direct, demo('older 0'));
    expect((await complete(acme, retried.upload_id)).status).toBe(201);
    expect(await served(acme)).toBe('older 0');
  });

  test('begun in turn and completed in turn, both are published', async () => {
    const acme = await tenant();
    const first = await send(acme, direct, demo('first'));
    service.advance(1);
    const second = await send(acme, direct, demo('second'));
    expect((await complete(acme, first.upload_id)).status).toBe(201);
    expect(await json(await complete(acme, second.upload_id))).toMatchObject({ revision: 2 });
    expect(await served(acme)).toBe('second');
  });

  test('If-Match and If-None-Match hold from the beginning to the end', async () => {
    const acme = await tenant();
    const fresh = { headers: { 'if-none-match': '*' } };
    const ticket = await send(acme, direct, demo('one'), fresh);
    await acme.put('/v1/bundles/main', demo('somebody else'));
    const lost = await complete(acme, ticket.upload_id);
    expect(lost.status).toBe(412);
    expect(await json(lost)).toMatchObject({ code: 'revision_conflict' });
    expect(await begin(acme, demo('two'), fresh)).toMatchObject({ status: 412 });
    const etag = (await acme.get('/v1/bundles/main')).headers.get('etag') ?? '';
    const second = await send(acme, direct, demo('two'), { headers: { 'if-match': etag } });
    expect((await complete(acme, second.upload_id)).status).toBe(201);
    expect(await begin(acme, demo('three'), { headers: { 'if-match': etag } })).toMatchObject({
      status: 412,
    });
  });

  test('twenty completions at once: one revision, one answer', async () => {
    const acme = await tenant();
    const ticket = await send(acme, direct, demo('many'));
    const answers = await Promise.all(Array.from({ length: 20 }, () => complete(acme, ticket.upload_id)));
    const bodies = await Promise.all(answers.map(json));
    expect(new Set(answers.map((one) => one.status))).toEqual(new Set([201]));
    for (const body of bodies) expect(body).toEqual(bodies[0]);
    expect(await json(await acme.get('/v1/bundles/main/revisions'))).toMatchObject({
      revisions: [{ revision: 1 }],
    });
    expect(await json(await acme.get('/v1/bundles/main'))).toMatchObject({ generation: 1 });
  });

  test('lenient is lenient, and is recorded', async () => {
    const acme = await tenant();
    const archive = zipOf({ 'demo/SKILL.md': '---\nname: demo\ndescription: d\nmodel: x\n---\nBody' });
    const ticket = await send(acme, direct, archive, { mode: 'lenient' });
    expect(await json(await complete(acme, ticket.upload_id))).toMatchObject({
      mode: 'lenient',
      revision: 1,
    });
  });
});

describe('[D5] an upload is bound to tenant, bundle, size and digest', () => {
  test('other bytes than declared are refused, shorter, longer or changed', async () => {
    const acme = await tenant();
    const archive = demo('bound');
    const ticket = await begin(acme, archive);
    const changed = Uint8Array.from(archive);
    changed[40] = (changed[40] ?? 0) ^ 1;
    for (const bytes of [
      archive.subarray(1),
      Buffer.concat([archive, Buffer.from('x')]),
      changed,
      Buffer.alloc(0),
    ]) {
      const put = await direct(ticket.url, {
        method: 'PUT',
        headers: ticket.headers,
        body: new Uint8Array(bytes),
      });
      expect([413, 422]).toContain(put.status);
    }
    expect(await stateOf(acme, ticket.upload_id)).toMatchObject({ state: 'waiting' });
    expect((await complete(acme, ticket.upload_id)).status).toBe(409);
  });

  test('a bucket that takes other bytes all the same publishes nothing', async () => {
    const own = await startService({ events: false });
    try {
      const acme = callerOf(own.app, await own.issue('acme'));
      for (const bytes of [Buffer.from('short'), Uint8Array.from(demo('x').map((byte) => byte ^ 1))]) {
        const declared = await begin(acme, demo('x'));
        await own.objects.put(`tenants/acme/uploads/main/${declared.upload_id}`, bytes, 'absent');
        const refused = await complete(acme, declared.upload_id);
        expect(refused.status).toBe(422);
        expect(await json(refused)).toMatchObject({ code: 'upload_mismatch' });
      }
      expect((await acme.get('/v1/bundles/main')).status).toBe(404);
    } finally {
      await own.close();
    }
  });

  test('a signed URL is good for its method, its key and its time alone', async () => {
    const own = await startService({ events: false });
    try {
      const acme = callerOf(own.app, await own.issue('acme'));
      const ticket = await begin(acme, demo('x'));
      const body = new Uint8Array(demo('x'));
      for (const url of [
        `${ticket.url}x`,
        ticket.url.replace(/\.[^.]*$/, (signature) => `.A${signature.slice(2)}`),
        ticket.url.replace(/\.[^.]*$/, ''),
        ticket.url.replace(/\.[^.]*$/, '.'),
        ticket.url.replace(/bucket\/./, 'bucket/f'),
      ]) {
        expect((await own.app.request(url, { method: 'PUT', body })).status).toBe(403);
      }
      expect((await own.app.request(ticket.url)).status).toBe(403);
      own.advance(15 * 60);
      expect((await own.app.request(ticket.url, { method: 'PUT', body })).status).toBe(403);
    } finally {
      await own.close();
    }
  });

  test('another tenant and another bundle know nothing of it', async () => {
    const acme = await tenant();
    const globex = await tenant();
    const archive = demo('mine');
    const ticket = await send(acme, direct, archive);
    for (const response of [
      await globex.get(`/v1/bundles/main/uploads/${ticket.upload_id}`),
      await complete(globex, ticket.upload_id),
      await complete(acme, ticket.upload_id, {}, 'other'),
      await acme.get('/v1/bundles/main/uploads/nonsense'),
      await acme.get(`/v1/bundles/main/uploads/${'0'.repeat(32)}`),
    ]) {
      expect(response.status).toBe(404);
    }
    // The same archive of another tenant is an upload of its own.
    expect(await begin(globex, archive)).toMatchObject({ status: 201, state: 'waiting' });
    expect(await stateOf(acme, ticket.upload_id)).toMatchObject({ state: 'uploaded' });
  });

  test('needs bundles:write', async () => {
    const reader = callerOf(service.app, await service.issue('reader', ['catalog:read', 'skills:load']));
    expect(await begin(reader, demo('x'))).toMatchObject({ status: 403 });
    expect((await complete(reader, '0'.repeat(32))).status).toBe(403);
    expect((await reader.get(`/v1/bundles/main/uploads/${'0'.repeat(32)}`)).status).toBe(403);
  });

  test.each([
    ['no size', { sha256: 'a'.repeat(64) }, 422],
    ['no digest', { size: 1 }, 422],
    ['size 0', { size: 0, sha256: 'a'.repeat(64) }, 422],
    ['a fraction', { size: 1.5, sha256: 'a'.repeat(64) }, 422],
    ['a text for a size', { size: '1', sha256: 'a'.repeat(64) }, 422],
    ['a short digest', { size: 1, sha256: 'abc' }, 422],
    ['a digest in base64', { size: 1, sha256: Buffer.alloc(32).toString('base64') }, 422],
    ['an unknown mode', { size: 1, sha256: 'a'.repeat(64), mode: 'loose' }, 422],
    ['an unknown field', { size: 1, sha256: 'a'.repeat(64), tenant: 'globex' }, 422],
    ['more than an archive may have', { size: 20 * 1024 * 1024 + 1, sha256: 'a'.repeat(64) }, 413],
  ])('refuses %s', async (_, body, status) => {
    const acme = await tenant();
    const response = await acme.post('/v1/bundles/main/uploads', body);
    expect(response.status).toBe(status);
  });

  test('the expected digest at completing must be the declared one', async () => {
    const acme = await tenant();
    const ticket = await send(acme, direct, demo('x'));
    const other = await complete(acme, ticket.upload_id, { sha256: 'b'.repeat(64) });
    expect(other.status).toBe(422);
    expect(await json(other)).toMatchObject({ code: 'upload_mismatch' });
    expect(await stateOf(acme, ticket.upload_id)).toMatchObject({ state: 'uploaded' });
    // A completion without any body is fine.
    const path = `/v1/bundles/main/uploads/${ticket.upload_id}/complete`;
    expect((await acme.request(path, { method: 'POST' })).status).toBe(201);
  });
});

describe('[J14] a resource too large for one answer', () => {
  test('is a 303 to a signed, short-lived URL that gives every byte', async () => {
    const own = await startService({
      events: false,
      resources: { binary: 'allow', max_file_bytes: 16 * 1024 * 1024, max_text_bytes: 16 * 1024 * 1024 },
    });
    try {
      const acme = callerOf(own.app, await own.issue('acme'));
      const bytes = Uint8Array.from(
        { length: 7 * 1024 * 1024 },
        (_, index) => (index * 2_654_435_761) >>> 13,
      );
      const text = '\u0001'.repeat(2 * 1024 * 1024);
      const archive = zipOf({
        'demo/SKILL.md': skillMd('demo'),
        'demo/assets/big "ü".bin': bytes,
        'demo/t.txt': text,
      });
      const ticket = await send(acme, (url, init) => own.app.request(url, init), archive);
      expect((await complete(acme, ticket.upload_id)).status).toBe(201);
      const context = { session_id: 's' };
      await acme.post('/v1/tools/load_skill', { name: 'demo', context });
      const read = (relative_path: string, headers: Record<string, string> = {}) =>
        acme.post('/v1/tools/load_skill_resource', { name: 'demo', relative_path, context }, headers);

      for (const headers of [{}, { accept: 'application/octet-stream' }]) {
        const away = await read('assets/big "ü".bin', headers);
        expect(away.status).toBe(303);
        expect(await json(away)).toMatchObject({
          name: 'demo',
          kind: 'file',
          size: bytes.length,
          digest: sha256(bytes),
        });
        const location = away.headers.get('location') ?? '';
        const got = await own.app.request(location);
        expect(got.status).toBe(200);
        expect(Buffer.from(await got.arrayBuffer()).equals(bytes)).toBe(true);
        expect(got.headers.get('content-disposition')).toContain("filename*=UTF-8''big%20%22%C3%BC%22.bin");
        expect(got.headers.get('content-security-policy')).toContain('sandbox');
        const part = await own.app.request(location, { headers: { range: 'bytes=5-9' } });
        expect([part.status, Buffer.from(await part.arrayBuffer())]).toEqual([
          206,
          Buffer.from(bytes.slice(5, 10)),
        ]);
        own.advance(5 * 60);
        expect((await own.app.request(location)).status).toBe(403);
      }
      // Small as bytes, too large once it is escaped for JSON.
      expect((await read('t.txt')).status).toBe(303);
      expect((await read('t.txt', { accept: 'application/octet-stream' })).status).toBe(200);
      // The URL is for the one file: nothing of another tenant can be named by it.
      expect(await own.objects.size(`tenants/acme/${fileKey(sha256(bytes))}`)).toBe(bytes.length);
    } finally {
      await own.close();
    }
  });
});
