import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { SkillError } from '../../src/core/errors.ts';
import type { Finding } from '../../src/core/errors.ts';
import { bundleId } from '../../src/core/ids.ts';
import { indexTree } from '../../src/sources/index-tree.ts';
import { memoryTree } from '../../src/sources/skill-tree.ts';
import { skillMd } from '../support/skills.ts';

type Files = Readonly<Record<string, string | Uint8Array>>;

const treeOf = (files: Files) =>
  memoryTree(
    Object.entries(files).map(([path, content]) => ({
      path,
      mode: 0o644 as const,
      bytes: new Uint8Array(Buffer.from(content)),
    })),
  );

const told = (findings: readonly Finding[]): string[] =>
  findings.map((one) => `${one.severity} ${one.code} ${one.file ?? ''}`);

/** Findings of a tree, accepted or refused, and whether the sink was given anything. */
async function index(files: Files, mode: 'strict' | 'lenient') {
  let sunk = 0;
  const count = () => {
    sunk += 1;
    return Promise.resolve();
  };
  const sink = { file: count, skillFiles: count };
  try {
    const content = await indexTree(treeOf(files), { bundle: bundleId('main'), mode, sink });
    return {
      names: content.skills.map((one) => one.name),
      told: told(content.findings),
      sunk,
      code: undefined,
    };
  } catch (error) {
    if (!(error instanceof SkillError)) throw error;
    return { names: [], told: told(error.findings), sunk, code: error.code };
  }
}

describe('A whole tree', () => {
  test('[J23] two skills of one name are refused in both modes, naming the second file', async () => {
    const files = { 'x/demo/SKILL.md': skillMd('demo'), 'y/demo/SKILL.md': skillMd('demo') };
    for (const mode of ['strict', 'lenient'] as const) {
      expect(await index(files, mode)).toEqual({
        names: [],
        told: ['error duplicate_skill y/demo/SKILL.md'],
        sunk: 0,
        code: 'duplicate_skill',
      });
    }
  });

  test('[J23] names that become one by the repair of lenient are the same name', async () => {
    const answer = await index({ 'a/SKILL.md': skillMd('de-mo'), 'b/SKILL.md': skillMd('De Mo') }, 'lenient');
    expect(answer.code).toBe('duplicate_skill');
  });

  test('[D5] one broken skill refuses the tree, and nothing reaches the sink', async () => {
    const files = { 'a/SKILL.md': skillMd('a'), 'b/SKILL.md': '# Title', 'c/SKILL.md': skillMd('other') };
    expect(await index(files, 'strict')).toEqual({
      names: [],
      told: ['error no_frontmatter b/SKILL.md', 'error directory_name_mismatch c/SKILL.md'],
      sunk: 0,
      code: 'no_frontmatter',
    });
  });

  test('a tree without any SKILL.md says so', async () => {
    expect(await index({ 'a/readme.md': 'x' }, 'lenient')).toMatchObject({
      code: 'no_skills_found',
      sunk: 0,
    });
    expect(await index({}, 'strict')).toMatchObject({ code: 'no_skills_found' });
  });

  test('[J23] what strict refuses, lenient takes with a warning: skill.md, another directory, unknown fields', async () => {
    const text = '---\nname: bar\ndescription: Use when: x\nmodel: m\nallowed-tools: [Read]\n---\n';
    const strict = await index({ 'foo/skill.md': text }, 'strict');
    expect(strict).toMatchObject({ code: 'wrong_file_name', sunk: 0 });
    const lenient = await index({ 'foo/skill.md': text }, 'lenient');
    expect(lenient.names).toEqual(['bar']);
    expect(lenient.told).toEqual([
      'warning wrong_file_name foo/skill.md',
      'warning repaired_yaml foo/skill.md',
      'warning directory_name_mismatch foo/skill.md',
      'warning invalid_field foo/skill.md',
      'warning unknown_field foo/skill.md',
    ]);
  });

  test('a secret refuses the tree in strict; lenient leaves it out', async () => {
    const files = { 'demo/SKILL.md': skillMd('demo'), 'demo/.env': 'KEY=1', 'demo/.env.example': 'KEY=' };
    expect(await index(files, 'strict')).toMatchObject({ code: 'secret_refused', sunk: 0 });
    const content = await indexTree(treeOf(files), { bundle: bundleId('main'), mode: 'lenient' });
    expect(content.skills[0]?.files?.map((one) => one.path)).toEqual(['.env.example', 'SKILL.md']);
  });

  test('[D1] entries stand in name order and hold the verbatim frontmatter, not the body', async () => {
    const files = {
      'z/SKILL.md': skillMd('z', 'd', 'BODY'),
      'a/SKILL.md': `\ufeff${skillMd('a', 'd', 'BODY')}`,
    };
    const { skills } = await indexTree(treeOf(files), { bundle: bundleId('main'), mode: 'strict' });
    expect(skills.map((one) => [one.name, one.frontmatter])).toEqual([
      ['a', 'name: a\ndescription: "d"\n'],
      ['z', 'name: z\ndescription: "d"\n'],
    ]);
    expect(JSON.stringify(skills)).not.toContain('BODY');
  });
});

test('others have their turn after every skill that is parsed', async () => {
  const names = Array.from({ length: 40 }, (_, number) => `skill-${number}`);
  let turns = 0;
  const state = { isDone: false };
  const others = (async () => {
    while (!state.isDone) {
      await setImmediate();
      turns += 1;
    }
  })();
  await index(Object.fromEntries(names.map((name) => [`${name}/SKILL.md`, skillMd(name)])), 'strict');
  state.isDone = true;
  await others;
  expect(turns).toBeGreaterThanOrEqual(names.length);
});
