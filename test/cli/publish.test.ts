import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { sha256 } from '../../src/core/digests.ts';
import { zipOf } from '../support/archive-bytes.ts';
import { skillMd } from '../support/skills.ts';
import { skillbucket } from '../support/terminal.ts';
import { temporaryFolders } from '../sources/folders.ts';

const folder = temporaryFolders();

const GOOD = { 'demo/SKILL.md': skillMd('demo'), 'demo/references/a.md': 'a' };

/** Every file below a folder with its digest. */
async function contentOf(directory: string): Promise<Record<string, string>> {
  if (!existsSync(directory)) return {};
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((one) => one.isFile()).map((one) => path.join(one.parentPath, one.name));
  return Object.fromEntries(
    await Promise.all(files.map(async (one) => [one, sha256(await readFile(one))] as const)),
  );
}

describe('publish', () => {
  const publish = (source: string, dataDir: string, ...more: string[]) =>
    skillbucket(['publish', source, '--bundle', 'team', '--data-dir', dataDir, '--json', ...more]);

  test('[D5] published, then unchanged, then the next revision', async () => {
    const [source, data] = [await folder(GOOD), await folder()];
    const first = await publish(source, data);
    expect(first.code).toBe(0);
    expect(JSON.parse(first.out)).toMatchObject({
      tenant: 'acme',
      outcome: 'published',
      bundle: 'team',
      revision: 1,
      mode: 'strict',
      skills: 1,
      files: 2,
    });
    const before = await contentOf(data);
    const second = await publish(source, data);
    expect(second.code).toBe(0);
    expect(JSON.parse(second.out)).toMatchObject({
      outcome: 'unchanged',
      revision: 1,
      uploaded: { files: 0 },
    });
    // Just the manifest, which notes when this was wanted again.
    const after = Object.entries(await contentOf(data)).filter(([file]) => !file.includes('manifest.json~'));
    expect(Object.fromEntries(after)).toEqual(before);

    await writeFile(path.join(source, 'demo/references/a.md'), 'b');
    const third = await publish(source, data);
    expect(JSON.parse(third.out)).toMatchObject({
      outcome: 'published',
      revision: 2,
      uploaded: { files: 1 },
    });
  });

  test('[D5] a dry run tells the same and writes nothing', async () => {
    const [source, parent] = [await folder(GOOD), await folder()];
    const data = path.join(parent, 'data');
    const { code, out } = await publish(source, data, '--dry-run');
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ outcome: 'validated', skills: 1, uploaded: { files: 0 } });
    expect(existsSync(data)).toBe(false);
  });

  test('[D5] what is refused leaves the data as it was, and says why', async () => {
    const [source, data] = [await folder(GOOD), await folder()];
    await publish(source, data);
    const before = await contentOf(data);
    const broken = await folder({ ...GOOD, 'x/SKILL.md': '# Title', 'new/SKILL.md': skillMd('new') });
    const { code, out, err } = await publish(broken, data);
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({
      outcome: 'refused',
      code: 'no_frontmatter',
      findings: [{ severity: 'error', code: 'no_frontmatter', file: 'x/SKILL.md', line: 1 }],
    });
    expect(err).toContain('x/SKILL.md:1 no_frontmatter');
    expect(await contentOf(data)).toEqual(before);
    const plain = await skillbucket(['publish', broken, '--bundle', 'team', '--data-dir', data]);
    expect(plain).toMatchObject({ code: 1, out: '' });
  });

  test('[J23] --lenient is recorded, and takes what strict refuses', async () => {
    const [source, data] = [
      await folder({ 'demo/SKILL.md': skillMd('demo'), 'demo/.env': 'K=1' }),
      await folder(),
    ];
    expect((await publish(source, data)).code).toBe(1);
    const { code, out, err } = await publish(source, data, '--lenient');
    expect(code).toBe(0);
    expect(err).toBe('');
    expect(JSON.parse(out)).toMatchObject({
      mode: 'lenient',
      files: 1,
      findings: [{ severity: 'warning', code: 'secret_refused', file: 'demo/.env' }],
    });
  });

  test('[D5] an archive is published as its folder is', async () => {
    const archive = path.join(await folder({ 'x.zip': zipOf(GOOD) }), 'x.zip');
    const [fromZip, fromFolder] = [
      await publish(archive, await folder()),
      await publish(await folder(GOOD), await folder()),
    ];
    const digestOf = (ran: { out: string }) => (JSON.parse(ran.out) as { digest: string }).digest;
    expect(digestOf(fromZip)).toBe(digestOf(fromFolder));
  });

  test('a tenant that the deployment does not have gets nothing', async () => {
    const [source, data] = [await folder(GOOD), await folder()];
    const { code, out } = await publish(source, data, '--tenant', 'nobody');
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({ code: 'not_found' });
    expect(await contentOf(data)).toEqual({});
    for (const id of ['../acme', 'ACME', '']) {
      expect((await publish(source, data, '--tenant', id)).code).toBe(1);
    }
    expect((await publish(source, data, '--tenant', 'globex')).code).toBe(0);
  });

  test.each(['../other', 'Team', 'a/b', '', '.'])('a bundle named %j is refused', async (bundle) => {
    const data = await folder();
    const { code } = await skillbucket([
      'publish',
      await folder(GOOD),
      '--bundle',
      bundle,
      '--data-dir',
      data,
    ]);
    expect(code).toBe(1);
    expect(await contentOf(data)).toEqual({});
  });

  test('a bucket has no default tenant', async () => {
    const { code, err } = await skillbucket(['publish', await folder(GOOD), '--bundle', 'team'], {
      SKILLBUCKET_BUCKET: 'some-bucket',
    });
    expect(code).toBe(2);
    expect(err).toContain('--tenant');
  });

  test('a missing folder, or data that cannot be there, could not run', async () => {
    const data = await folder({ file: 'x' });
    expect((await publish(path.join(data, 'missing'), data)).code).toBe(2);
    expect((await publish(await folder(GOOD), path.join(data, 'file'))).code).toBe(2);
    expect(await contentOf(data)).toEqual({ [path.join(data, 'file')]: sha256('x') });
  });
});

describe('index', () => {
  test('[D1] prints the manifest and writes nothing', async () => {
    const source = await folder(GOOD);
    const before = await contentOf(source);
    const { code, out, err } = await skillbucket(['index', source, '--bundle', 'team']);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(JSON.parse(out)).toMatchObject({
      schema: 1,
      bundle: 'team',
      mode: 'strict',
      skills: [
        {
          name: 'demo',
          directory: 'demo',
          frontmatter: 'name: demo\ndescription: "Does demo. Use when demo is asked for."\n',
          skill_md: { path: 'SKILL.md', digest: sha256(skillMd('demo')) },
          file_count: 2,
          files: [
            { path: 'SKILL.md', mode: 0o644 },
            { path: 'references/a.md', digest: sha256('a'), size: 1, mime_type: 'text/markdown' },
          ],
        },
      ],
      findings: [],
    });
    expect(await contentOf(source)).toEqual(before);
  });

  test('[D1] the same folder gives the same manifest; findings do not mix into it', async () => {
    const source = await folder({ ...GOOD, '.DS_Store': 'x' });
    const [first, second] = [await skillbucket(['index', source]), await skillbucket(['index', source])];
    expect(first).toEqual(second);
    expect(first.err).toContain('.DS_Store');
    expect(JSON.parse(first.out)).toMatchObject({ bundle: 'main', findings: [{ code: 'file_left_out' }] });
  });

  test('what is broken prints no manifest', async () => {
    const { code, out, err } = await skillbucket(['index', await folder({ 'demo/SKILL.md': '# Title' })]);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toContain('no_frontmatter');
    const empty = await folder();
    await mkdir(path.join(empty, 'a'));
    expect((await skillbucket(['index', empty])).code).toBe(1);
    expect((await skillbucket(['index', path.join(empty, 'missing')])).code).toBe(2);
  });
});
