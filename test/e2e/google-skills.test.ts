import { readdirSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { mkdtemp } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { directoryObjectStore } from '../../src/storage/directory.ts';
import { callerOf, json } from '../support/call.ts';
import type { Caller } from '../support/call.ts';
import type { TestService } from '../support/service.ts';
import { startService } from '../support/service.ts';
import { skillbucket } from '../support/terminal.ts';

/** The folder of a checkout of google/skills; see .ci/run. Data of others, so it is not part of the project. */
const CORPUS = process.env['SKILLBUCKET_TEST_CORPUS'];

if (CORPUS === undefined) {
  process.stderr.write(
    '\n*** NOT RUN: the corpus of 112 real skills. Set SKILLBUCKET_TEST_CORPUS to its folder, or use .ci/run. ***\n\n',
  );
}

const WITH_UNQUOTED_VERSION = [
  'ads/data-manager-api-audience-ingestion/SKILL.md',
  'ads/data-manager-api-event-ingestion/SKILL.md',
  'ads/data-manager-api-setup/SKILL.md',
];

describe.skipIf(CORPUS === undefined)('112 real skills of google/skills', () => {
  const corpus = CORPUS ?? '';
  let directory: string;
  let service: TestService;
  let acme: Caller;

  beforeAll(async () => {
    directory = await mkdtemp(path.join(os.tmpdir(), 'skillbucket-corpus-'));
    const store = directoryObjectStore(path.join(directory, 'bucket'));
    service = await startService({ wrap: () => store });
    acme = callerOf(service.app, await service.issue('acme'));
  });
  afterAll(async () => {
    await service.close();
    await rm(directory, { recursive: true, force: true });
  });

  const publish = (...more: string[]) =>
    skillbucket([
      'publish',
      corpus,
      '--bundle',
      'google',
      '--tenant',
      'acme',
      '--data-dir',
      directory,
      ...more,
    ]);
  const everything = async () => {
    const keys: string[] = [];
    for await (const key of directoryObjectStore(path.join(directory, 'bucket')).list('')) keys.push(key);
    return keys.sort();
  };

  test('[J23] strict refuses them, naming just the three with an unquoted metadata.version, and changes nothing', async () => {
    const refused = await publish();
    expect(refused.code).toBe(1);
    expect(await everything()).toEqual([]);
    const checked = await skillbucket(['validate', corpus, '--json']);
    expect(checked.code).toBe(1);
    const { results } = JSON.parse(checked.out) as {
      results: { findings: { file: string; code: string; severity: string; fix: string }[] }[];
    };
    const errors = results[0]?.findings.filter((finding) => finding.severity === 'error') ?? [];
    expect(errors.map((finding) => finding.file)).toEqual(WITH_UNQUOTED_VERSION);
    for (const finding of errors)
      expect(finding).toMatchObject({ code: 'invalid_field', fix: expect.stringContaining('"') as unknown });
    for (const file of WITH_UNQUOTED_VERSION) expect(refused.err).toContain(file);
  });

  test('[J23] lenient publishes all 112 with those findings; every file reads back byte for byte', async () => {
    const published = await publish('--lenient', '--json');
    expect(published.code).toBe(0);
    const outcome = JSON.parse(published.out) as {
      skills: number;
      files: number;
      findings: { severity: string; file: string }[];
    };
    expect(outcome).toMatchObject({ skills: 112, files: 478 });
    const warned = outcome.findings
      .filter((finding) => finding.severity === 'warning')
      .map((finding) => finding.file);
    expect(warned).toEqual(WITH_UNQUOTED_VERSION);

    const raw = { accept: 'application/octet-stream' };
    const names: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await json(
        await acme.get(`/v1/catalog?limit=50${cursor === undefined ? '' : `&cursor=${cursor}`}`),
      );
      names.push(...(page['skills'] as { name: string }[]).map((skill) => skill.name));
      cursor = page['next_cursor'] as string | undefined;
    } while (cursor !== undefined);
    expect(names).toHaveLength(112);

    const onDisk = readdirSync(corpus, { recursive: true, withFileTypes: true }).filter((entry) =>
      entry.isFile(),
    );
    let compared = 0;
    for (const name of names) {
      const context = { session_id: `read ${name}` };
      const loaded = await json(await acme.post('/v1/tools/load_skill', { name, context }));
      const folder = String(loaded['root_dir']).replace('bundle://acme/google/', '');
      const bytes = (relative: string) => readFileSync(path.join(corpus, folder, relative));
      const skillMd = await acme.post('/v1/tools/load_skill', { name, context }, raw);
      expect(Buffer.from(await skillMd.arrayBuffer()).equals(bytes('SKILL.md'))).toBe(true);
      compared += 1;
      const { resources, complete } = loaded['resources'] as {
        resources: { relative_path: string }[];
        complete: boolean;
      };
      expect([name, complete]).toEqual([name, true]);
      for (const { relative_path } of resources) {
        const answer = await acme.post(
          '/v1/tools/load_skill_resource',
          { name, relative_path, context },
          raw,
        );
        expect([relative_path, answer.status]).toEqual([relative_path, 200]);
        expect(Buffer.from(await answer.arrayBuffer()).equals(bytes(relative_path))).toBe(true);
        compared += 1;
      }
    }
    expect(compared).toBe(onDisk.length);
    expect(compared).toBe(478);
  });
});
