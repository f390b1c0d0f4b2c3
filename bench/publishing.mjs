// Publishing against bare reading and hashing of the same files, in a process of its own.
import { createHash } from 'node:crypto';
import { mkdir, open, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import pMap from 'p-map';
import { bundleId } from '../dist/core/ids.js';
import { publishBundle } from '../dist/operations/publish-bundle.js';
import { directoryTree } from '../dist/sources/directory-tree.js';
import { directoryObjectStore } from '../dist/storage/directory.js';
import { answerCalls } from './processes.mjs';

/** What src/sources/index-tree.ts has in work at once: 16 skills with 4 files each. */
const FILES_AT_ONCE = 64;

let rounds = 0;

answerCalls({
  /** One round of each; seconds. The product also walks the folder; the bare side is given the list. */
  async round({ skillsDirectory, files, scratch }) {
    rounds += 1;
    const bucket = path.join(scratch, `publish-${rounds}`);
    const copies = path.join(scratch, `copies-${rounds}`);
    await mkdir(copies);
    const paths = files.map((file) => path.join(skillsDirectory, file));
    const seconds = {
      hashed: await timed(() => pMap(paths, readAndHash, { concurrency: FILES_AT_ONCE })),
      published: await timed(() => publish(skillsDirectory, bucket, 'published', files.length)),
      unchanged: await timed(() => publish(skillsDirectory, bucket, 'unchanged', files.length)),
      durable: await timed(() =>
        pMap(paths, (file, index) => copyDurably(file, path.join(copies, String(index))), {
          concurrency: FILES_AT_ONCE,
        }),
      ),
    };
    await rm(bucket, { recursive: true });
    await rm(copies, { recursive: true });
    return seconds;
  },
});

async function timed(work) {
  const started = performance.now();
  await work();
  return (performance.now() - started) / 1000;
}

async function readAndHash(file) {
  const bytes = await readFile(file);
  createHash('sha256').update(bytes).digest('hex');
  return bytes;
}

/** The least that a publisher must do which promises that published files survive a power cut. */
async function copyDurably(from, to) {
  const bytes = await readAndHash(from);
  const handle = await open(to, 'wx');
  await handle.writeFile(bytes);
  await handle.sync();
  await handle.close();
}

async function publish(skillsDirectory, bucket, expected, files) {
  const published = await publishBundle(directoryObjectStore(bucket), {
    bundle: bundleId('bench'),
    tree: await directoryTree(skillsDirectory, 'strict'),
    mode: 'strict',
    publishedBy: 'bench',
    now: () => new Date(),
  });
  if (published.outcome !== expected || published.files !== files) {
    throw new Error(`Expected ${files} files ${expected}: ${JSON.stringify(published)}`);
  }
}
