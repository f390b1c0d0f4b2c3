import { randomBytes } from 'node:crypto';
import { GetObjectTaggingCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { bundleId, tenantId } from '../../src/core/ids.ts';
import type { UploadId } from '../../src/core/ids.ts';
import { ARCHIVE_LIMITS, MAX_ANSWER_FILE_BYTES, UPLOAD_URL_SECONDS } from '../../src/core/limits.ts';
import { tenantPrefix, uploadKey } from '../../src/core/manifest/object-keys.ts';
import { rawZip, zipOf } from '../support/archive-bytes.ts';
import type { Caller } from '../support/call.ts';
import { json } from '../support/call.ts';
import type { EmulatedAws } from '../support/emulated-aws.ts';
import { emulatorEndpoint, startOnEmulator } from '../support/emulated-aws.ts';
import { skillMd } from '../support/skills.ts';
import type { Ticket } from '../support/upload.ts';
import { begin, hexDigest, send } from '../support/upload.ts';
import type { UploadQueue } from '../support/upload-queue.ts';
import { uploadQueue } from '../support/upload-queue.ts';

const endpoint = emulatorEndpoint(process.env['SKILLBUCKET_TEST_S3_ENDPOINT'], 'uploads on LocalStack');

const MAX_FILE_BYTES = 8 * 1024 * 1024;
const archiveOf = (text: string) => zipOf({ 'demo/SKILL.md': skillMd('demo'), 'demo/references/a.md': text });
const complete = (caller: Caller, { upload_id }: Ticket) =>
  caller.post(`/v1/bundles/main/uploads/${upload_id}/complete`, {});
const stateOf = async (caller: Caller, { upload_id }: Ticket) =>
  json(await caller.get(`/v1/bundles/main/uploads/${upload_id}`));
const bundleOf = async (caller: Caller) => json(await caller.get('/v1/bundles/main'));

/** What an agent reads, in a session of its own. */
async function read(caller: Caller, relative_path: string, accept = 'application/json'): Promise<Response> {
  const context = { session_id: hexDigest(randomBytes(8)) };
  await caller.post('/v1/tools/load_skill', { name: 'demo', context });
  const body = { name: 'demo', relative_path, context };
  return caller.post('/v1/tools/load_skill_resource', body, { accept });
}

describe.skipIf(endpoint === '')('[D6] uploads at AWS_ENDPOINT_URL', () => {
  let aws: EmulatedAws;
  let queue: UploadQueue;
  let indexer: (event: unknown) => Promise<unknown>;

  beforeAll(async () => {
    aws = await startOnEmulator({
      SKILLBUCKET_BINARY: 'allow',
      SKILLBUCKET_MAX_FILE_BYTES: String(MAX_FILE_BYTES),
    });
    queue = await uploadQueue(aws);
    indexer = (await import('../../functions/indexer.ts')).handler;
  });
  afterAll(() => {
    vi.unstubAllEnvs();
  });

  test('[D6] begin, put, event, indexer: the skill is in the catalog; the event again changes nothing', async () => {
    const caller = await aws.callerOf('by-event');
    const ticket = await send(caller, fetch, archiveOf('by event'));
    expect(await stateOf(caller, ticket)).toMatchObject({ state: 'uploaded' });
    const key = uploadKey(bundleId('main'), ticket.upload_id as UploadId);
    const tagged = new GetObjectTaggingCommand({
      Bucket: aws.name,
      Key: tenantPrefix(tenantId('by-event')) + key,
    });
    expect((await aws.s3.send(tagged)).TagSet).toEqual([{ Key: 'skillbucket-lifetime', Value: 'upload' }]);

    // The API has written objects too: the rule lets the archive's event through and no other.
    const batch = await queue.nextBatch();
    expect(batch.Records.map((one) => one.body)).toEqual([expect.stringContaining(`${key}"`)]);
    expect(await indexer(batch)).toEqual({ batchItemFailures: [] });
    expect(await stateOf(caller, ticket)).toMatchObject({ state: 'published', outcome: { revision: 1 } });
    const catalog = await json(await caller.get('/v1/catalog?q=demo'));
    expect(catalog['skills']).toMatchObject([{ name: 'demo' }]);
    expect(await json(await read(caller, 'references/a.md'))).toMatchObject({ content: 'by event' });

    const before = await bundleOf(caller);
    expect(await indexer(batch)).toEqual({ batchItemFailures: [] });
    expect((await complete(caller, ticket)).status).toBe(201);
    expect(await bundleOf(caller)).toEqual(before);
  });

  test('[D6] begin, put, complete; the event that comes after it changes nothing', async () => {
    const caller = await aws.callerOf('by-complete');
    const ticket = await send(caller, fetch, archiveOf('by complete'));
    const done = await complete(caller, ticket);
    expect([done.status, await json(done)]).toMatchObject([201, { outcome: 'published', revision: 1 }]);
    expect(await json(await read(caller, 'references/a.md'))).toMatchObject({ content: 'by complete' });
    expect(await indexer(await queue.nextBatch())).toEqual({ batchItemFailures: [] });
    expect(await bundleOf(caller)).toMatchObject({ revision: 1, generation: 1 });
  });

  test('[D6] event and complete at once publish once', async () => {
    const caller = await aws.callerOf('both');
    const ticket = await send(caller, fetch, archiveOf('both'));
    const [answer, indexed] = await Promise.all([
      complete(caller, ticket),
      queue.nextBatch().then((batch) => indexer(batch)),
    ]);
    expect([answer.status, indexed]).toEqual([201, { batchItemFailures: [] }]);
    expect(await bundleOf(caller)).toMatchObject({ revision: 1, generation: 1 });
  });

  test('[D6] an archive that is refused reports, and leaves what is served', async () => {
    const caller = await aws.callerOf('refused');
    await complete(caller, await send(caller, fetch, archiveOf('good')));
    const bad = await send(caller, fetch, zipOf({ 'demo/SKILL.md': '# no frontmatter\n' }));
    for (let seen = 0; seen < 2;) {
      const batch = await queue.nextBatch();
      seen += batch.Records.length;
      expect(await indexer(batch)).toEqual({ batchItemFailures: [] });
    }
    expect(await stateOf(caller, bad)).toMatchObject({
      state: 'refused',
      problem: { code: 'no_frontmatter' },
    });
    expect(await json(await read(caller, 'references/a.md'))).toMatchObject({ content: 'good' });
  });

  test('[D6] a bundle of 20 MiB with an asset of 7 MB goes up, and every byte comes down again', async () => {
    const caller = await aws.callerOf('large');
    const files: Record<string, Buffer> = {
      'assets/photo.bin': randomBytes(7_000_000),
      'assets/more.bin': randomBytes(7_000_000),
      'assets/small.bin': randomBytes(100_000),
      'scripts/last.bin': Buffer.alloc(0),
    };
    const pack = () =>
      rawZip([
        { name: 'demo/SKILL.md', data: skillMd('demo') },
        ...Object.entries(files).map(([name, data]) => ({ name: `demo/${name}`, data, method: 0 })),
      ]);
    files['scripts/last.bin'] = randomBytes(ARCHIVE_LIMITS.maxPackedBytes - pack().length);
    const archive = pack();
    expect(archive).toHaveLength(20 * 1024 * 1024);

    const ticket = await send(caller, fetch, archive);
    expect(await indexer(await queue.nextBatch())).toEqual({ batchItemFailures: [] });
    expect(await stateOf(caller, ticket)).toMatchObject({ state: 'published', outcome: { files: 5 } });
    for (const [name, bytes] of Object.entries(files)) {
      const answer = await read(caller, name, 'application/octet-stream');
      expect([name, answer.status]).toEqual([name, bytes.length > MAX_ANSWER_FILE_BYTES ? 303 : 200]);
      const there = answer.status === 303 ? await fetch(answer.headers.get('location') ?? '') : answer;
      expect([name, there.status]).toEqual([name, 200]);
      expect(there.headers.get('content-disposition')).toContain(name.split('/').at(-1));
      expect(hexDigest(new Uint8Array(await there.arrayBuffer()))).toBe(hexDigest(bytes));
    }
    // A byte more is refused before anything is sent.
    expect(await begin(caller, Buffer.concat([archive, Buffer.alloc(1)]))).toMatchObject({
      status: 413,
      code: 'archive_too_large',
    });
  });

  describe('[D6] a signed URL is good for what it was signed for, and for nothing else', () => {
    const archive = archiveOf('signed');
    const other = archive.map((byte, index) => (index === 20 ? byte ^ 1 : byte));
    const longer = Buffer.concat([archive, Buffer.alloc(1)]);
    const checksumOf = (bytes: Uint8Array) => Buffer.from(hexDigest(bytes), 'hex').toString('base64');
    const without = (headers: Record<string, string>, name: string) =>
      Object.fromEntries(Object.entries(headers).filter(([header]) => header !== name));

    test.each<
      [
        string,
        (ticket: Ticket) => { url?: string; headers?: Record<string, string>; body?: Uint8Array },
        number,
      ]
    >([
      [
        'another signature',
        ({ url }) => ({ url: url.replace(/Signature=[0-9a-f]{4}/, 'Signature=0000') }),
        403,
      ],
      ["another tenant's key", ({ url }) => ({ url: url.replace('/signed/', '/by-event/') }), 403],
      ['more bytes', () => ({ body: longer }), 403],
      ['other bytes', () => ({ body: other }), 400],
      [
        'other bytes with their own checksum',
        ({ headers }) => ({
          body: other,
          headers: { ...headers, 'x-amz-checksum-sha256': checksumOf(other) },
        }),
        403,
      ],
      ['no checksum', ({ headers }) => ({ headers: without(headers, 'x-amz-checksum-sha256') }), 403],
      ['no tag', ({ headers }) => ({ headers: without(headers, 'x-amz-tagging') }), 403],
      ['another tag', ({ headers }) => ({ headers: { ...headers, 'x-amz-tagging': 'a=b' } }), 403],
    ])('[D6] %s is refused', async (_, tampered, status) => {
      const caller = await aws.callerOf('signed');
      const ticket = await begin(caller, archive);
      expect(ticket).toMatchObject({ status: 201, state: 'waiting' });
      const { url, headers, body } = { ...ticket, body: archive, ...tampered(ticket) };
      const put = await fetch(url, { method: 'PUT', headers, body: new Uint8Array(body) });
      expect(put.status).toBe(status);
      expect(await stateOf(caller, ticket)).toMatchObject({ state: 'waiting' });
      expect(await json(await complete(caller, ticket))).toMatchObject({ code: 'upload_incomplete' });
    });

    test('[D6] an expired one is refused, and beginning again gives another for the same upload', async () => {
      const caller = await aws.callerOf('expired');
      const past = Date.now() - (UPLOAD_URL_SECONDS + 60) * 1000;
      vi.useFakeTimers({ toFake: ['Date'], now: past });
      const early = await begin(caller, archive).finally(() => vi.useRealTimers());
      const put = (ticket: Ticket) =>
        fetch(ticket.url, { method: 'PUT', headers: ticket.headers, body: new Uint8Array(archive) });
      expect((await put(early)).status).toBe(403);
      const again = await begin(caller, archive);
      expect(again.upload_id).toBe(early.upload_id);
      expect((await put(again)).status).toBe(200);
      expect((await complete(caller, again)).status).toBe(201);
      // The only event: what was refused above has sent none.
      const batch = await queue.nextBatch();
      expect(batch.Records).toHaveLength(1);
      expect(await indexer(batch)).toEqual({ batchItemFailures: [] });
    });
  });
});
