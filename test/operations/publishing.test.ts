import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { SkillError } from '../../src/core/errors.ts';
import { bundleId, tenantId } from '../../src/core/ids.ts';
import { revisionKey } from '../../src/core/manifest/object-keys.ts';
import { publishBundle } from '../../src/operations/publish-bundle.ts';
import { packageRoot } from '../../src/package-root.ts';
import type { SkillTree } from '../../src/sources/skill-tree.ts';
import { memoryTree } from '../../src/sources/skill-tree.ts';
import { directoryObjectStore } from '../../src/storage/directory.ts';
import type { ObjectStore } from '../../src/storage/object-store.ts';
import { tenantStore } from '../../src/tenancy/tenant-store.ts';
import { servedState as servedStateOf } from '../support/served-state.ts';
import { skillMd, writeFiles } from '../support/skills.ts';

const MAIN = bundleId('main');
let directory: string;
let objects: ObjectStore;

beforeEach(async () => {
  directory = await mkdtemp(path.join(os.tmpdir(), 'skillbucket-publish-'));
  objects = tenantStore(directoryObjectStore(path.join(directory, 'bucket')), tenantId('acme'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

function treeOf(label: string, skills = 3): SkillTree {
  const files = Array.from({ length: skills }, (_, index) => [
    { path: `skill-${index}/SKILL.md`, text: skillMd(`skill-${index}`, `From ${label}.`) },
    { path: `skill-${index}/references/a.md`, text: `${label} ${index}` },
  ]).flat();
  return memoryTree(
    files.map(({ path: name, text }) => ({ path: name, mode: 0o644, bytes: Buffer.from(text) })),
  );
}

const publish = (store: ObjectStore, label: string) =>
  publishBundle(store, {
    bundle: MAIN,
    tree: treeOf(label),
    mode: 'strict',
    publishedBy: label,
    now: () => new Date(),
  });

const servedState = (store: ObjectStore) => servedStateOf(store, MAIN);

describe('[D5] publishing', () => {
  test('a failure at any single write leaves the old state served, and a re-run converges', async () => {
    await publish(objects, 'old');
    let writes = 0;
    const counting: ObjectStore = { ...objects, put: (...args) => ((writes += 1), objects.put(...args)) };
    // How many writes a change takes, learned on a copy of the situation.
    await publish(counting, 'probe');
    expect(writes).toBeGreaterThan(8);
    for (let failing = 1; failing <= writes; failing += 1) {
      const before = await servedState(objects);
      let put = 0;
      const broken: ObjectStore = {
        ...objects,
        put: (...args) => {
          put += 1;
          return put >= failing ? Promise.reject(new SkillError('unavailable')) : objects.put(...args);
        },
      };
      await expect(publish(broken, `try ${failing}`)).rejects.toMatchObject({ code: 'unavailable' });
      expect(await servedState(objects)).toEqual(before);
      const outcome = await publish(objects, `try ${failing}`);
      expect(outcome.outcome).toBe('published');
      expect((await servedState(objects))?.labels).toEqual(new Set([`try ${failing}`]));
    }
  });

  test('many publishers at once: each gets a revision of its own, none is lost, never a mix', async () => {
    const labels = Array.from({ length: 8 }, (_, index) => `publisher ${index}`);
    const state = { done: false };
    const watching = (async () => {
      const seen: (ReadonlySet<string> | undefined)[] = [];
      while (!state.done) seen.push((await servedState(objects))?.labels);
      return seen;
    })();
    const outcomes = await Promise.all(labels.map((label) => publish(objects, label)));
    state.done = true;
    for (const seen of await watching) expect(seen === undefined || seen.size === 1).toBe(true);
    expect(new Set(outcomes.map((outcome) => outcome.revision)).size).toBe(labels.length);
    const last = await servedState(objects);
    expect(last?.generation).toBe(labels.length);
    for (const outcome of outcomes) {
      const revision = await objects.get(revisionKey(MAIN, outcome.revision ?? 0));
      expect(revision).toBeDefined();
    }
  });
});

describe('[D5] the command', () => {
  const bin = path.join(packageRoot(), 'bin', 'skillbucket.mjs');
  const publishArgs = (folder: string) => [
    bin,
    'publish',
    folder,
    '--bundle',
    'main',
    '--tenant',
    'acme',
    '--data-dir',
    directory,
    '--json',
  ];
  const start = (folder: string) =>
    spawn(process.execPath, publishArgs(folder), { stdio: ['ignore', 'pipe', 'pipe'] });

  async function folder(label: string, skills: number): Promise<string> {
    const where = path.join(directory, label.replaceAll(' ', '-'));
    const files: Record<string, string> = {};
    for (let index = 0; index < skills; index += 1) {
      files[`skill-${index}/SKILL.md`] = skillMd(`skill-${index}`, `From ${label}.`);
      files[`skill-${index}/references/a.md`] = `${label} ${index}`;
    }
    await writeFiles(where, files);
    return where;
  }

  async function countFiles(): Promise<number> {
    let count = 0;
    for await (const key of objects.list('files/')) count += key === '' ? 0 : 1;
    return count;
  }

  test('killed in the middle (SIGKILL) serves the old state whole; running it again converges', async () => {
    await publish(objects, 'old');
    const before = await servedState(objects);
    const next = await folder('next', 400);
    let kills = 0;
    for (const after of [1, 60, 250]) {
      const had = await countFiles();
      const child = start(next);
      const exited = once(child, 'exit');
      // Killed when a given number of files has arrived, whenever that is.
      while (child.exitCode === null && (await countFiles()) < had + after) await new Promise(setImmediate);
      child.kill('SIGKILL');
      const [, signal] = (await exited) as [number | null, string | null];
      if (signal === 'SIGKILL') kills += 1;
      if (signal === 'SIGKILL') expect(await servedState(objects)).toEqual(before);
    }
    expect(kills).toBeGreaterThan(0);
    const [code] = (await once(start(next), 'exit')) as [number];
    expect(code).toBe(0);
    const after = await servedState(objects);
    expect(after?.labels).toEqual(new Set(['next']));
    expect(after?.generation).toBe(2);
  });

  test('two processes at once both succeed, one after the other', async () => {
    const [one, two] = [await folder('one', 60), await folder('two', 60)];
    const codes = await Promise.all(
      [start(one), start(two)].map(async (child) => ((await once(child, 'exit')) as [number])[0]),
    );
    expect(codes).toEqual([0, 0]);
    const served = await servedState(objects);
    expect(served?.generation).toBe(2);
    expect(served?.labels.size).toBe(1);
  });
});
