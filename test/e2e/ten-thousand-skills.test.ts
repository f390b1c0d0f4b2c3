import { afterAll, beforeAll, expect, test } from 'vitest';
import { bundleId, tenantId } from '../../src/core/ids.ts';
import { publishBundle } from '../../src/operations/publish-bundle.ts';
import type { SkillTree, TreeFile } from '../../src/sources/skill-tree.ts';
import { tenantStore } from '../../src/tenancy/tenant-store.ts';
import { callerOf, json } from '../support/call.ts';
import type { TestService } from '../support/service.ts';
import { startService } from '../support/service.ts';
import { skillMd } from '../support/skills.ts';

const MANY = 10_000;
const FEW = 10;

let service: TestService;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

/** Skills of five files each, every file another. All skills have the same sizes, whatever their number. */
function treeOf(skills: number): SkillTree {
  const file = (path: string, text: string): TreeFile => {
    const bytes = Buffer.from(text);
    return { path, size: bytes.length, mode: 0o644, read: () => Promise.resolve(bytes) };
  };
  const files = Array.from({ length: skills }, (_, index) => {
    const name = `skill-${String(index).padStart(5, '0')}`;
    return [
      file(`${name}/SKILL.md`, skillMd(name, `Handles case ${name}.`, `# ${name}\n`)),
      ...['references/a.md', 'references/b.md', 'scripts/c.py', 'assets/d.txt'].map((inside) =>
        file(`${name}/${inside}`, `${inside} of ${name}`),
      ),
    ];
  }).flat();
  return { rootName: undefined, files, findings: [] };
}

async function publish(tenant: string, skills: number) {
  return publishBundle(tenantStore(service.objects, tenantId(tenant)), {
    bundle: bundleId('main'),
    tree: treeOf(skills),
    mode: 'strict',
    publishedBy: 'test',
    now: service.now,
  });
}

/** What loading the first skill and reading from it asks of the stores, in a process whose catalog is warm. */
async function costOfUse(tenant: string) {
  const caller = callerOf(service.anotherProcess(), await service.issue(tenant));
  await caller.get('/v1/catalog?limit=1');
  service.counts.reset();
  const context = { session_id: 'one' };
  const loaded = await caller.post('/v1/tools/load_skill', { name: 'skill-00007', context });
  expect(loaded.status).toBe(200);
  const read = { name: 'skill-00007', relative_path: 'references/b.md', context };
  expect(await json(await caller.post('/v1/tools/load_skill_resource', read))).toMatchObject({
    content: 'references/b.md of skill-00007',
  });
  const { get, put, list, bytes } = service.counts.objects;
  return { get, put, list, bytes, table: { ...service.counts.table } };
}

test('[D1] 10,000 skills publish and serve; using one costs what it costs among 10', async () => {
  await publish('few', FEW);
  const outcome = await publish('many', MANY);
  expect(outcome).toMatchObject({
    outcome: 'published',
    skills: MANY,
    files: MANY * 5,
    uploaded: { files: MANY * 5 },
  });

  const cost = await costOfUse('many');
  expect(cost).toEqual(await costOfUse('few'));
  expect(cost).toMatchObject({ get: 2, put: 0, list: 0, table: { get: 1, put: 2, add: 1 } });

  const caller = callerOf(service.app, await service.issue('many'));
  expect(await json(await caller.get('/v1/catalog?limit=200'))).toMatchObject({ total: MANY });
  const prompt = await caller.get('/v1/catalog/prompt');
  expect(Number(prompt.headers.get('x-estimated-tokens'))).toBeLessThanOrEqual(10_000);
  expect(prompt.headers.get('x-skills-total')).toBe(String(MANY));
  const last = await caller.post('/v1/tools/load_skill', {
    name: 'skill-09999',
    context: { session_id: 'last' },
  });
  expect(last.status).toBe(200);

  service.counts.reset();
  expect(await publish('many', MANY)).toMatchObject({ outcome: 'unchanged', revision: 1 });
  // The manifest, which notes when this was wanted again.
  expect(service.counts.objects.put).toBe(1);
});
