import { mkdir, symlink } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { SkillError } from '../../src/core/errors.ts';
import { MAX_FRONTMATTER_BYTES } from '../../src/core/limits.ts';
import type { Discovery } from '../../src/sources/discovery.ts';
import { discoverSkills } from '../../src/sources/discovery.ts';
import { skillMd } from '../support/skills.ts';
import { makePipe, temporaryFolders } from './folders.ts';

const folder = temporaryFolders();

const namesOf = (discovery: Discovery): string[] => discovery.skills.map((one) => one.name);
const codesOf = (discovery: Discovery): string[] => discovery.findings.map((one) => one.code);

function statesBelow(root: string, { directories }: Discovery): Record<string, string> {
  return Object.fromEntries(directories.map((one) => [path.relative(root, one.path), one.state]));
}

async function refusalOf(run: Promise<unknown>): Promise<SkillError> {
  const error = await run.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof SkillError) return error;
  throw new Error('nothing was refused', { cause: error });
}

describe('[J2] metadata only', () => {
  test('[J2] a skill is found whatever its body is: the body is not read', async () => {
    const start = Buffer.from(skillMd('demo', 'd', ''));
    const bodies = { 'not-utf8': [0xff, 0xfe, 0xff], nul: [0, 0, 0] };
    for (const body of Object.values(bodies)) {
      const root = await folder({
        'demo/SKILL.md': new Uint8Array(Buffer.concat([start, Buffer.from(body)])),
      });
      expect(await discoverSkills([root])).toMatchObject({ skills: [{ name: 'demo' }], findings: [] });
    }
  });

  test('[J2] a body larger than any SKILL.md may be does not matter either', async () => {
    const root = await folder({ 'demo/SKILL.md': skillMd('demo', 'd', 'x'.repeat(5_000_000)) });
    const { skills } = await discoverSkills([root]);
    expect(skills).toHaveLength(1);
    expect(JSON.stringify(skills)).not.toContain('xxx');
  });

  test('[J4] at most 64 KiB of frontmatter is read', async () => {
    const of = (name: string, bytes: number) => {
      const start = `name: ${name}\ndescription: d\n`;
      return `---\n${start}#${'x'.repeat(bytes - start.length - 2)}\n---\n`;
    };
    const root = await folder({
      'a/SKILL.md': of('a', MAX_FRONTMATTER_BYTES),
      'b/SKILL.md': of('b', MAX_FRONTMATTER_BYTES + 1),
      'c/SKILL.md': `---\n${'x'.repeat(3_000_000)}`,
    });
    const found = await discoverSkills([root]);
    expect(namesOf(found)).toEqual(['a']);
    expect(codesOf(found)).toEqual(['frontmatter_too_large', 'frontmatter_too_large']);
  });

  test('[J2] what is found says where it is', async () => {
    const root = await folder({ 'team/demo/SKILL.md': skillMd('demo', 'Does it.') });
    const directory = path.join(root, 'team/demo');
    expect((await discoverSkills([root])).skills).toMatchObject([
      { name: 'demo', description: 'Does it.', root, directory, file: path.join(directory, 'SKILL.md') },
    ]);
  });
});

describe('[J3] trust', () => {
  test('[J3] a bare list of paths trusts just those', async () => {
    const root = await folder({ 'demo/SKILL.md': skillMd('demo') });
    expect(namesOf(await discoverSkills([root]))).toEqual(['demo']);
  });

  test.each([
    ['nobody decided', {}],
    ['trust is false', { trust: false }],
    ['a predicate says no', { trust: () => false }],
    ['a predicate says no later', { trust: () => Promise.resolve(false) }],
  ])('[J3] options are refused with the absolute path when %s', async (_, options) => {
    const root = await folder({ 'demo/SKILL.md': skillMd('demo') });
    const relative = path.relative(process.cwd(), root);
    const error = await refusalOf(discoverSkills({ paths: [relative], ...options }));
    expect(error.code).toBe('untrusted_skill_path');
    expect(error.facts).toEqual({ path: root });
    expect(error.message).toContain(root);
  });

  test('[J3] a predicate is asked for each absolute root, before anything is read', async () => {
    const [good, bad] = [await folder({ 'a/SKILL.md': skillMd('a') }), await folder()];
    const asked: string[] = [];
    const trust = (root: string) => {
      asked.push(root);
      return root === good;
    };
    expect(namesOf(await discoverSkills({ paths: [good], trust }))).toEqual(['a']);
    const error = await refusalOf(discoverSkills({ paths: [good, bad], trust }));
    expect(error.facts).toEqual({ path: bad });
    expect(asked).toEqual([good, good, bad]);
  });

  test('[J3] trust: true trusts the paths that are named', async () => {
    const root = await folder({ 'demo/SKILL.md': skillMd('demo') });
    expect(namesOf(await discoverSkills({ paths: [root], trust: true }))).toEqual(['demo']);
  });
});

describe('[J4] bounds', () => {
  test('[J4] six levels deep by default, and as deep as asked', async () => {
    const root = await folder({
      '1/2/3/4/5/six/SKILL.md': skillMd('six'),
      '1/2/3/4/5/6/seven/SKILL.md': skillMd('seven'),
    });
    expect(namesOf(await discoverSkills([root]))).toEqual(['six']);
    expect(namesOf(await discoverSkills({ paths: [root], trust: true, maxDepth: 7 }))).toEqual([
      'seven',
      'six',
    ]);
    expect(namesOf(await discoverSkills({ paths: [root], trust: true, maxDepth: 0 }))).toEqual([]);
    const inside = path.join(root, '1/2/3/4/5/six');
    expect(namesOf(await discoverSkills({ paths: [inside], trust: true, maxDepth: 0 }))).toEqual(['six']);
  });

  test('[J4] directories are counted over all roots; one more than allowed is refused', async () => {
    const roots = [
      await folder({ 'a/SKILL.md': skillMd('a') }),
      await folder({ 'b/SKILL.md': skillMd('b') }),
    ];
    const options = { paths: roots, trust: true };
    expect(namesOf(await discoverSkills({ ...options, maxDirectories: 4 }))).toEqual(['a', 'b']);
    const error = await refusalOf(discoverSkills({ ...options, maxDirectories: 3 }));
    expect(error.code).toBe('discovery_limit_exceeded');
    expect(error.facts).toMatchObject({ limit: 3, path: path.join(roots[1] ?? '', 'b') });
  });

  test('[J4] 2,000 directories by default', async () => {
    const root = await folder();
    await Promise.all(Array.from({ length: 2_000 }, (_, index) => mkdir(path.join(root, `d${index}`))));
    expect((await refusalOf(discoverSkills([root]))).facts).toMatchObject({ limit: 2_000 });
  });

  test('[J4] .git and node_modules are not entered, nor what is excluded in their place', async () => {
    const root = await folder({
      '.git/a/SKILL.md': skillMd('a'),
      'x/node_modules/b/SKILL.md': skillMd('b'),
      'old/c/SKILL.md': skillMd('c'),
      'd/SKILL.md': skillMd('d'),
    });
    expect(namesOf(await discoverSkills([root]))).toEqual(['c', 'd']);
    const excludeDirectories = ['old'];
    expect(namesOf(await discoverSkills({ paths: [root], trust: true, excludeDirectories }))).toEqual([
      'a',
      'b',
      'd',
    ]);
  });

  test('[J4] links are never followed: to a directory, to a file, to nothing, to itself', async () => {
    const outside = await folder({ 'demo/SKILL.md': skillMd('demo') });
    const root = await folder({
      'ok/SKILL.md': skillMd('ok'),
      'file/x.md': '',
      'loop/x.md': '',
      'gone/x.md': '',
    });
    await symlink(path.join(outside, 'demo'), path.join(root, 'demo'));
    await symlink(root, path.join(root, 'again'));
    await symlink(path.join(outside, 'demo/SKILL.md'), path.join(root, 'file/SKILL.md'));
    await symlink('SKILL.md', path.join(root, 'loop/SKILL.md'));
    await symlink('/nowhere/at/all', path.join(root, 'gone/SKILL.md'));
    const found = await discoverSkills([root]);
    expect(namesOf(found)).toEqual(['ok']);
    expect(codesOf(found)).toEqual(['symlink_refused', 'symlink_refused', 'symlink_refused']);
    expect(statesBelow(root, found)).toEqual({
      '': 'not_a_skill',
      file: 'unreadable',
      gone: 'unreadable',
      loop: 'unreadable',
      ok: 'skill',
    });
  });

  test('[J4] a folder is a skill, no skill, or unreadable', async () => {
    const root = await folder({
      'good/SKILL.md': skillMd('good'),
      'plain/x.md': 'x',
      'broken/SKILL.md': '# Title',
    });
    await makePipe(path.join(root, 'pipe/SKILL.md'));
    await mkdir(path.join(root, 'folder/SKILL.md'), { recursive: true });
    const found = await discoverSkills([root, path.join(root, 'missing')]);
    expect(statesBelow(root, found)).toEqual({
      '': 'not_a_skill',
      broken: 'not_a_skill',
      folder: 'not_a_skill',
      'folder/SKILL.md': 'not_a_skill',
      good: 'skill',
      missing: 'unreadable',
      pipe: 'unreadable',
      plain: 'not_a_skill',
    });
    expect(found.findings.map((one) => [one.code, one.file])).toEqual([
      ['no_frontmatter', path.join(root, 'broken/SKILL.md')],
      ['invalid_resource_path', path.join(root, 'pipe/SKILL.md')],
      ['unreadable', path.join(root, 'missing')],
    ]);
  });
});

describe('[J5] roots in order', () => {
  test('[J5] the first root with a name wins; each loser is reported with both files', async () => {
    const first = await folder({ 'a/SKILL.md': skillMd('a', 'first'), 'z/SKILL.md': skillMd('z') });
    const second = await folder({ 'a/SKILL.md': skillMd('a', 'second'), 'b/SKILL.md': skillMd('b') });
    const found = await discoverSkills([first, second]);
    expect(found.skills.map((one) => [one.name, one.root])).toEqual([
      ['a', first],
      ['b', second],
      ['z', first],
    ]);
    expect(codesOf(found)).toEqual(['shadowed_skill']);
    expect(found.findings[0]?.file).toBe(path.join(second, 'a/SKILL.md'));
    expect(found.findings[0]?.message).toContain(path.join(first, 'a/SKILL.md'));
    expect((await discoverSkills([second, first])).skills[0]?.description).toBe('second');
  });

  test('[J5] a root that is named twice, or lies in another, does not shadow itself', async () => {
    const root = await folder({ 'team/a/SKILL.md': skillMd('a') });
    const found = await discoverSkills([root, `${root}/`, path.join(root, 'team')]);
    expect(namesOf(found)).toEqual(['a']);
    expect(found.findings).toEqual([]);
  });

  test('[J5] inside one root the order is that of the paths', async () => {
    const root = await folder({
      'y/demo/SKILL.md': skillMd('demo', 'y'),
      'x/demo/SKILL.md': skillMd('demo', 'x'),
    });
    expect((await discoverSkills([root])).skills).toMatchObject([{ name: 'demo', description: 'x' }]);
  });
});

describe('Naming', () => {
  test('what lies inside a skill is its own: an inner SKILL.md is not listed', async () => {
    const root = await folder({
      'a/SKILL.md': skillMd('a'),
      'a/references/x/SKILL.md': skillMd('x'),
      'a/node_modules/p/SKILL.md': skillMd('p'),
    });
    expect(namesOf(await discoverSkills([root]))).toEqual(['a']);
    expect(namesOf(await discoverSkills([path.join(root, 'a')]))).toEqual(['a']);
  });

  test('another spelling of SKILL.md is told by the spelling; the right one goes first', async () => {
    const root = await folder({
      'a/skill.md': skillMd('a'),
      'b/SKILL.md': skillMd('b', 'right'),
      'b/Skill.md': skillMd('b', 'wrong'),
    });
    const found = await discoverSkills([root]);
    expect(found.skills.map((one) => one.description)).toEqual(['Does a. Use when a is asked for.', 'right']);
    expect(codesOf(found)).toEqual(['wrong_file_name']);
    const strict = await discoverSkills({ paths: [root], trust: true, mode: 'strict' });
    expect(namesOf(strict)).toEqual(['b']);
  });

  test('the listing is by the name in the file, with a warning where the directory differs', async () => {
    const root = await folder({ 'foo/SKILL.md': skillMd('bar') });
    const found = await discoverSkills([root]);
    expect(namesOf(found)).toEqual(['bar']);
    expect(codesOf(found)).toEqual(['directory_name_mismatch']);
  });

  test('one broken skill does not hide its neighbours', async () => {
    const root = await folder({
      'a/SKILL.md': '# Title',
      'b/SKILL.md': new Uint8Array([0x2d, 0x2d, 0x2d, 0x0a, 0xa1, 0xaa, 0x0a, 0x2d, 0x2d, 0x2d, 0x0a]),
      'c/SKILL.md': skillMd('c'),
    });
    const found = await discoverSkills([root]);
    expect(namesOf(found)).toEqual(['c']);
    expect(codesOf(found)).toEqual(['no_frontmatter', 'not_utf8']);
  });
});
