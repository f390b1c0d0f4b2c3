import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { sha256 } from '../../src/core/digests.ts';
import { SkillError } from '../../src/core/errors.ts';
import { bundleId, tenantId } from '../../src/core/ids.ts';
import type { UploadId } from '../../src/core/ids.ts';
import { manifestSchema } from '../../src/core/manifest/manifest.ts';
import { manifestKey, revisionKey, uploadKey } from '../../src/core/manifest/object-keys.ts';
import { createLogger } from '../../src/log.ts';
import { indexer } from '../../src/events/indexer.ts';
import type { BatchAnswer } from '../../src/events/queue-handler.ts';
import { queueHandler } from '../../src/events/queue-handler.ts';
import { beginUpload } from '../../src/operations/begin-upload.ts';
import { publishBundle } from '../../src/operations/publish-bundle.ts';
import { readUploadEnded } from '../../src/operations/upload-records.ts';
import { memoryTree } from '../../src/sources/skill-tree.ts';
import { directoryObjectStore } from '../../src/storage/directory.ts';
import { parseJson } from '../../src/storage/json.ts';
import type { ObjectStore } from '../../src/storage/object-store.ts';
import { tenantStore } from '../../src/tenancy/tenant-store.ts';
import { zipOf } from '../support/archive-bytes.ts';
import { servedState } from '../support/served-state.ts';
import { skillMd } from '../support/skills.ts';

const BUCKET = 'the-bucket';
const MAIN = bundleId('main');
const ACME = tenantId('acme');
let directory: string;
let whole: ObjectStore;
let objects: ObjectStore;
let minutes = 0;
const now = () => new Date(Date.UTC(2026, 0, 1, 0, (minutes += 1)));

beforeEach(async () => {
  directory = await mkdtemp(path.join(os.tmpdir(), 'skillbucket-events-'));
  whole = directoryObjectStore(path.join(directory, 'bucket'));
  objects = tenantStore(whole, ACME);
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const archiveOf = (label: string) =>
  zipOf({
    'a/SKILL.md': skillMd('a', `From ${label}.`),
    'a/references/a.md': label,
    'b/SKILL.md': skillMd('b', `From ${label}.`),
  });

/** An upload that has arrived, as the API and the bucket leave it. */
async function arrived(archive: Uint8Array): Promise<UploadId> {
  const noTransfers = {
    signPut: () => Promise.resolve({ url: '', headers: {} }),
    signGet: () => Promise.resolve(''),
  };
  const { begun } = await beginUpload(objects, noTransfers, {
    bundle: MAIN,
    size: archive.length,
    sha256: sha256(archive),
    mode: 'strict',
    begunBy: 'key-1',
    now,
  });
  await objects.put(uploadKey(MAIN, begun.upload), archive, 'absent', 'upload');
  return begun.upload;
}

const keyOf = (upload: string, tenant = 'acme') => `tenants/${tenant}/uploads/main/${upload}`;
const eventBridge = (key: string, bucket = BUCKET) =>
  JSON.stringify({
    version: '0',
    id: '17793124-05d4-b198-2fde-7ededc63b103',
    'detail-type': 'Object Created',
    source: 'aws.s3',
    account: '111122223333',
    time: '2026-01-01T00:00:00Z',
    region: 'eu-west-1',
    resources: [`arn:aws:s3:::${bucket}`],
    detail: {
      version: '0',
      bucket: { name: bucket },
      object: { key, size: 5, etag: 'b1946ac92492d2347c6235b4d2611184', sequencer: '00617F08299329D189' },
      'request-id': 'N4N7GDK58NMKJ12R',
      requester: '123456789012',
      'source-ip-address': '1.2.3.4',
      reason: 'PutObject',
    },
  });
const notification = (key: string, eventName = 'ObjectCreated:Put') =>
  JSON.stringify({
    Records: [
      {
        eventVersion: '2.1',
        eventSource: 'aws:s3',
        awsRegion: 'eu-west-1',
        eventName,
        s3: { bucket: { name: BUCKET }, object: { key: encodeURIComponent(key).replaceAll('%2F', '/') } },
      },
    ],
  });
const batch = (...bodies: string[]) => ({
  Records: bodies.map((body, index) => ({ messageId: `m${index}`, body })),
});

const lines: Record<string, unknown>[] = [];
const logger = createLogger('debug', { write: (line) => lines.push(JSON.parse(line) as never) });
/** A new process: nothing in memory is shared with the one before. */
const handlerOn = (store: ObjectStore): ((event: unknown) => Promise<BatchAnswer>) =>
  queueHandler({ index: indexer({ objects: store, logger, now }), bucket: BUCKET, logger });
const deliver = (...bodies: string[]) => handlerOn(whole)(batch(...bodies));

async function manifest() {
  const found = await objects.get(manifestKey(MAIN));
  return found === undefined || found === 'unmodified'
    ? undefined
    : manifestSchema.parse(parseJson(found.bytes));
}
async function keys(): Promise<string[]> {
  const all: string[] = [];
  for await (const key of whole.list('')) all.push(key);
  return all.sort();
}

describe('[D5] the indexer, on an upload that arrives', () => {
  test.each([
    ['an EventBridge event', eventBridge],
    ['a notification of the bucket', notification],
  ])('publishes it, told by %s, and records the outcome', async (_, message) => {
    const upload = await arrived(archiveOf('one'));
    expect(await deliver(message(keyOf(upload)))).toEqual({ batchItemFailures: [] });
    expect(await servedState(objects, MAIN)).toEqual({
      revision: 1,
      generation: 1,
      labels: new Set(['one']),
    });
    expect((await readUploadEnded(objects, MAIN, upload))?.result).toMatchObject({
      published: { outcome: 'published', revision: 1 },
    });
    expect((await manifest())?.published_by).toBe('key-1');
  });

  test('delivered again, and again at once, it is published once', async () => {
    const upload = await arrived(archiveOf('one'));
    await Promise.all(Array.from({ length: 8 }, () => deliver(eventBridge(keyOf(upload)))));
    const before = await keys();
    await deliver(eventBridge(keyOf(upload)), notification(keyOf(upload)));
    expect(await keys()).toEqual(before);
    expect(await manifest()).toMatchObject({ revision: 1, generation: 1, latest_revision: 1 });
  });

  test('out of order: what was begun last is served, and the one that came late says so', async () => {
    const first = await arrived(archiveOf('first'));
    const second = await arrived(archiveOf('second'));
    await deliver(eventBridge(keyOf(second)), eventBridge(keyOf(first)));
    expect((await servedState(objects, MAIN))?.labels).toEqual(new Set(['second']));
    expect((await readUploadEnded(objects, MAIN, first))?.result).toMatchObject({
      refused: { code: 'revision_conflict' },
    });
  });

  test('an old event does not bring an old revision back', async () => {
    const upload = await arrived(archiveOf('old'));
    // Died after the manifest, before the outcome.
    const dying: ObjectStore = {
      ...whole,
      put: (key, ...rest) =>
        key.endsWith('ended.json') ? Promise.reject(new SkillError('unavailable')) : whole.put(key, ...rest),
    };
    expect((await handlerOn(dying)(batch(eventBridge(keyOf(upload))))).batchItemFailures).toHaveLength(1);
    await publishBundle(objects, {
      bundle: MAIN,
      tree: memoryTree([{ path: 'a/SKILL.md', mode: 0o644, bytes: Buffer.from(skillMd('a', 'From new.')) }]),
      mode: 'strict',
      publishedBy: 'somebody',
      now,
    });
    expect(await deliver(eventBridge(keyOf(upload)))).toEqual({ batchItemFailures: [] });
    expect(await servedState(objects, MAIN)).toMatchObject({ revision: 2, labels: new Set(['new']) });
    // And the uploader is told the truth: it was published, as revision 1.
    expect((await readUploadEnded(objects, MAIN, upload))?.result).toMatchObject({
      published: { outcome: 'published', revision: 1 },
    });
  });

  test('a refused archive is a result and no failure: recorded, nothing changed, no other delivery', async () => {
    const upload = await arrived(zipOf({ 'a/SKILL.md': 'no frontmatter' }));
    expect(await deliver(eventBridge(keyOf(upload)))).toEqual({ batchItemFailures: [] });
    expect(await manifest()).toBeUndefined();
    expect((await readUploadEnded(objects, MAIN, upload))?.result).toMatchObject({
      refused: { code: 'no_frontmatter', findings: [{ file: 'a/SKILL.md' }] },
    });
  });

  test('one that fails is delivered again alone; the others of its batch are done', async () => {
    const good = await arrived(archiveOf('good'));
    const answer = await deliver('not json', eventBridge(keyOf(good)), '{"hello":"world"}');
    expect(answer).toEqual({ batchItemFailures: [{ itemIdentifier: 'm0' }, { itemIdentifier: 'm2' }] });
    expect((await servedState(objects, MAIN))?.labels).toEqual(new Set(['good']));
  });

  test('leaves everything else alone', async () => {
    const upload = await arrived(archiveOf('one'));
    await objects.put('files/abc', Buffer.from('x'), 'absent');
    const before = await keys();
    const others = [
      eventBridge('tenants/acme/files/abc'),
      eventBridge('tenants/acme/bundles/uploads/manifest.json'),
      eventBridge('tenants/acme/uploads/main'),
      eventBridge(`tenants/acme/uploads/main/${upload}/more`),
      eventBridge('tenants/acme/uploads/main/not-an-upload-id'),
      eventBridge(`tenants/../uploads/main/${upload}`),
      eventBridge(`tenants/Acme/uploads/main/${upload}`),
      eventBridge(`tenants/acme/uploads/ma in/${upload}`),
      eventBridge(`uploads/main/${upload}`),
      // Begun by nobody; another tenant's; another bucket's; deleted; what S3 sends to try a queue.
      eventBridge(keyOf('0'.repeat(32))),
      eventBridge(keyOf(upload, 'globex')),
      eventBridge(keyOf(upload), 'another-bucket'),
      notification(keyOf(upload), 'ObjectRemoved:Delete'),
      JSON.stringify({ Service: 'Amazon S3', Event: 's3:TestEvent', Bucket: BUCKET }),
    ];
    expect(await deliver(...others)).toEqual({ batchItemFailures: [] });
    expect(await keys()).toEqual(before);
  });

  test('an archive that has expired since is no reason to try again', async () => {
    const archive = archiveOf('one');
    const upload = await arrived(archive);
    const gone: ObjectStore = { ...whole, size: () => Promise.resolve(undefined) };
    expect(await handlerOn(gone)(batch(eventBridge(keyOf(upload))))).toEqual({ batchItemFailures: [] });
  });
});

describe('[D5] the indexer killed at any store call', () => {
  /** Dies at the Nth call: before it has any effect, or after it had one that nobody learned of. */
  function dyingAt(nth: number, when: 'before' | 'after', seen: { calls: number }): ObjectStore {
    const dying = async <Result>(work: () => Promise<Result>): Promise<Result> => {
      seen.calls += 1;
      if (seen.calls > nth) throw new Error('dead');
      if (seen.calls < nth) return work();
      if (when === 'after') await work();
      throw new Error('killed');
    };
    return {
      ...whole,
      get: (...args) => dying(() => whole.get(...args)),
      put: (...args) => dying(() => whole.put(...args)),
      size: (...args) => dying(() => whole.size(...args)),
    };
  }

  test.each(['before', 'after'] as const)(
    'replayed, it converges to one published revision, nothing dangling, nothing lost (%s the call)',
    async (when) => {
      await publishBundle(objects, {
        bundle: MAIN,
        tree: memoryTree([
          { path: 'a/SKILL.md', mode: 0o644, bytes: Buffer.from(skillMd('a', 'From seed.')) },
        ]),
        mode: 'strict',
        publishedBy: 'seed',
        now,
      });
      let revisions = 1;
      for (let nth = 1; ; nth += 1) {
        const label = `${when} ${nth}`;
        const upload = await arrived(archiveOf(label));
        const before = await servedState(objects, MAIN);
        const seen = { calls: 0 };
        const answer = await handlerOn(dyingAt(nth, when, seen))(batch(eventBridge(keyOf(upload))));
        // Whatever was served is served whole: the old state, or the new one if the last step was taken.
        const between = await servedState(objects, MAIN);
        if (between?.generation === before?.generation) expect(between).toEqual(before);
        else expect(between?.labels).toEqual(new Set([label]));

        expect(await deliver(eventBridge(keyOf(upload)))).toEqual({ batchItemFailures: [] });
        revisions += 1;
        expect(await servedState(objects, MAIN)).toEqual({
          revision: revisions,
          generation: revisions,
          labels: new Set([label]),
        });
        expect((await readUploadEnded(objects, MAIN, upload))?.result).toMatchObject({
          published: { outcome: 'published', revision: revisions },
        });
        // Every revision number is taken once, and no more than these exist.
        expect(await objects.size(revisionKey(MAIN, revisions))).toBeGreaterThan(0);
        expect(await objects.size(revisionKey(MAIN, revisions + 1))).toBeUndefined();
        if (seen.calls < nth) {
          // It was not killed any more: every call of a publication has had its turn.
          expect(answer).toEqual({ batchItemFailures: [] });
          expect(nth).toBeGreaterThan(12);
          break;
        }
        expect(answer.batchItemFailures).toHaveLength(1);
      }
      expect((await manifest())?.history.map((note) => note.revision)).toEqual(
        Array.from({ length: revisions }, (_, index) => revisions - index),
      );
    },
  );
});
