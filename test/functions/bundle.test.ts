import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bundleId } from '../../src/core/ids.ts';
import { LOCAL_TABLE, startLocalTable } from '../../src/local/local-table.ts';
import type { LocalTable } from '../../src/local/local-table.ts';
import { publishBundle } from '../../src/operations/publish-bundle.ts';
import { packageRoot } from '../../src/package-root.ts';
import { builtinSource } from '../../src/sources/builtin.ts';
import { indexBuiltin } from '../../src/sources/index-builtin.ts';
import { memoryTree } from '../../src/sources/skill-tree.ts';
import type { ObjectStore } from '../../src/storage/object-store.ts';
import { issueKey } from '../../src/tenancy/api-keys.ts';
import { dynamoCredentialStore } from '../../src/tenancy/credential-store.ts';
import { newTenantId } from '../../src/tenancy/reserved-tenants.ts';
import { tenantStore } from '../../src/tenancy/tenant-store.ts';
import { zipOf } from '../support/archive-bytes.ts';
import type { LambdaResult } from '../support/lambda-answer.ts';
import { invoker } from '../support/lambda-event.ts';
import { memoryObjectStore } from '../storage/memory-store.ts';
import { skillMd } from '../support/skills.ts';

const run = promisify(execFile);
const SKILLS = path.join(packageRoot(), 'skills-bundle');
const INDEX = 'build/functions/any/index.mjs';

let out: string;
const deployed = () => path.join(out, 'functions', 'api');
const maps = () => path.join(out, 'functions-maps', 'api');

/** The command, from a folder that is not ours. */
async function bundle(): Promise<string> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'skillbucket-bundle-'));
  const script = path.join(packageRoot(), 'scripts', 'bundle-functions.mjs');
  await run(process.execPath, [script, '--out', folder], { cwd: os.tmpdir() });
  return folder;
}

const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
    .sort();

beforeAll(async () => {
  out = await bundle();
});
afterAll(() => rm(out, { recursive: true, force: true }));

describe('[D2] the functions as they are deployed', () => {
  test('are ES modules without source maps, which are kept apart', () => {
    const files = filesBelow(deployed());
    expect(files).toContain('index.mjs');
    expect(files.filter((file) => !file.startsWith('skills-bundle') && !file.endsWith('.mjs'))).toEqual([
      'package.json',
    ]);
    for (const file of files.filter((one) => one.endsWith('.mjs'))) {
      const text = readFileSync(path.join(deployed(), file), 'utf8');
      expect([file, /sourceMappingURL|module\.exports=\{/.test(text)]).toEqual([file, false]);
      expect(filesBelow(maps())).toContain(`${file}.map`);
    }
    expect(readFileSync(path.join(deployed(), 'index.mjs'), 'utf8')).toMatch(/export\{[^}]*\bas handler\b/);
  });

  test('a cold start reads nothing of what is needed rarely', () => {
    const { outputs } = JSON.parse(readFileSync(path.join(maps(), 'meta.json'), 'utf8')) as {
      outputs: Record<
        string,
        { inputs: Record<string, unknown>; imports: { path: string; kind: string; external?: boolean }[] }
      >;
    };
    const read = new Set<string>();
    const visit = (file: string): void => {
      if (read.has(file)) return;
      read.add(file);
      for (const one of outputs[file]?.imports ?? []) {
        if (one.kind !== 'dynamic-import' && one.external !== true) visit(one.path);
      }
    };
    visit(INDEX);
    const inputsOf = (files: Iterable<string>) =>
      [...files].flatMap((file) => Object.keys(outputs[file]?.inputs ?? {}));
    const rare =
      /node_modules\/(?:yauzl|tar-stream|yaml|file-type|mime-db|mime-types|p-map|pino|@aws-sdk\/(?:s3-request-presigner|credential-provider-(?:ini|sso|process|web-identity)))\/|zod\/v4\/(?:classic|locales\/(?!en\.js))|src\/(?:archives|operations\/publish-bundle)/;
    expect(inputsOf(read).filter((input) => rare.test(input))).toEqual([]);
    // It is there for when it is needed, but for what only the embedded deployment has.
    const all = inputsOf(Object.keys(outputs));
    expect(all.some((input) => input.includes('node_modules/yauzl/'))).toBe(true);
    expect(
      all.filter((input) => /dynalite|classic-level|@hono\/node-server|src\/(?:local|cli)\//.test(input)),
    ).toEqual([]);
  });

  test('the same source gives the same bytes', async () => {
    const again = await bundle();
    try {
      expect(filesBelow(again)).toEqual(filesBelow(out));
      for (const file of filesBelow(out)) {
        const same = (await readFile(path.join(again, file))).equals(await readFile(path.join(out, file)));
        expect([file, same]).toEqual([file, true]);
      }
    } finally {
      await rm(again, { recursive: true, force: true });
    }
  });

  test('the index of the built-in skills is what indexing them gives, and their bytes are theirs', async () => {
    const index = JSON.parse(readFileSync(path.join(deployed(), 'skills-bundle.json'), 'utf8')) as unknown;
    expect(index).toEqual(await indexBuiltin(SKILLS));

    const [fromIndex, fromFolder] = await Promise.all([
      builtinSource(path.join(deployed(), 'skills-bundle')),
      builtinSource(SKILLS),
    ]);
    const snapshot = await fromIndex.discover();
    expect(snapshot).toEqual(await fromFolder.discover());
    expect(snapshot?.skills.length).toBeGreaterThanOrEqual(5);
    for (const skill of snapshot?.skills ?? []) {
      const files = await fromIndex.files(skill.digest);
      expect(files).toEqual(await fromFolder.files(skill.digest));
      for (const file of files) {
        const original = await readFile(path.join(SKILLS, skill.directory, file.path));
        expect([file.path, original.equals(await fromIndex.read(file.digest))]).toEqual([file.path, true]);
      }
    }
  });
});

describe('[D2] the API function in a process of its own', () => {
  let local: LocalTable;
  let bucket: Server;
  let key: string;

  beforeAll(async () => {
    local = await startLocalTable({ accessKeyId: 'test' });
    const objects = memoryObjectStore();
    bucket = await servingReads(objects);
    const tenant = newTenantId('acme');
    await publishBundle(tenantStore(objects, tenant), {
      bundle: bundleId('main'),
      tree: memoryTree([{ path: 'demo/SKILL.md', mode: 0o644, bytes: Buffer.from(skillMd('demo')) }]),
      mode: 'strict',
      publishedBy: 'test',
      now: () => new Date(),
    });
    const credentials = dynamoCredentialStore(local.table);
    await credentials.createTenant({ id: tenant, name: 'Acme', status: 'active', created_at: 0 });
    const issued = issueKey();
    key = issued.key;
    await credentials.saveKey(issued.secretHash, {
      id: issued.id,
      tenant,
      scopes: ['catalog:read', 'skills:load'],
      created_at: 0,
    });
  });
  afterAll(async () => {
    bucket.closeAllConnections();
    bucket.close();
    await local.close();
  });

  test('lists, loads, reads a resource and validates an archive', async () => {
    const eventOf = invoker((event: unknown) => Promise.resolve(event), key);
    const context = { session_id: 's' };
    const image = { name: 'chart-choice', relative_path: 'assets/decision-map.png', context };
    const events = await Promise.all([
      eventOf('GET', '/v1/catalog'),
      eventOf('POST', '/v1/tools/load_skill', JSON.stringify({ name: 'demo', context })),
      eventOf('POST', '/v1/tools/load_skill', JSON.stringify({ name: 'chart-choice', context })),
      eventOf('POST', '/v1/tools/load_skill_resource', JSON.stringify(image), {
        accept: 'application/octet-stream',
      }),
      eventOf('POST', '/v1/validate', zipOf({ 'demo/SKILL.md': skillMd('demo') })),
    ]);
    const [catalog, demo, chart, bytes, validated] = await inProcess(events);
    const { skills } = JSON.parse(catalog?.body ?? '') as { skills: { name: string }[] };
    expect(skills.map(({ name }) => name)).toEqual(expect.arrayContaining(['demo', 'sql-review']));
    expect(JSON.parse(demo?.body ?? '')).toMatchObject({ instructions: '# demo\n' });
    expect(chart?.statusCode).toBe(200);
    const original = await readFile(path.join(SKILLS, 'chart-choice', 'assets', 'decision-map.png'));
    expect(Buffer.from(bytes?.body ?? '', 'base64').equals(original)).toBe(true);
    expect(JSON.parse(validated?.body ?? '')).toMatchObject({ valid: true });
  });

  /** Hands events to the handler, one after another, and answers what it answered. */
  async function inProcess(events: readonly unknown[]): Promise<LambdaResult[]> {
    const script = `
      const { handler } = await import(process.argv[1]);
      const answers = [];
      for (const event of JSON.parse(process.argv[2])) answers.push(await handler(event, {}));
      process.stdout.write(JSON.stringify(answers), () => process.exit());`;
    const { port } = bucket.address() as AddressInfo;
    const { stdout } = await run(
      process.execPath,
      [
        '--input-type=module',
        '--eval',
        script,
        pathToFileURL(path.join(deployed(), 'index.mjs')).href,
        JSON.stringify(events),
      ],
      {
        cwd: os.tmpdir(),
        env: {
          AWS_ENDPOINT_URL_S3: `http://127.0.0.1:${port}`,
          AWS_ENDPOINT_URL_DYNAMODB: local.endpoint,
          AWS_REGION: 'us-east-1',
          AWS_ACCESS_KEY_ID: 'test',
          AWS_SECRET_ACCESS_KEY: 'test',
          AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
          SKILLBUCKET_BUCKET: 'bucket',
          SKILLBUCKET_TABLE: LOCAL_TABLE,
          SKILLBUCKET_S3_PATH_STYLE: 'true',
          SKILLBUCKET_BINARY: 'allow',
          SKILLBUCKET_LOG_LEVEL: 'silent',
        },
      },
    );
    return JSON.parse(stdout) as LambdaResult[];
  }
});

/** As much of S3 as the function asks of it here: GetObject. `.ci/run` has a whole one (test/functions/api.test.ts). */
async function servingReads(objects: ObjectStore): Promise<Server> {
  const server = createServer((request, response) => {
    const [, , ...key] = new URL(request.url ?? '', 'http://bucket').pathname
      .split('/')
      .map(decodeURIComponent);
    void objects.get(key.join('/')).then((found) => {
      if (found === undefined || found === 'unmodified') {
        response.writeHead(404, { 'content-type': 'application/xml' });
        response.end('<Error><Code>NoSuchKey</Code></Error>');
        return;
      }
      response.writeHead(200, { etag: found.etag, 'content-length': found.bytes.length });
      response.end(found.bytes);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}
