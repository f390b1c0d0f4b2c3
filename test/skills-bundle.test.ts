import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { packageRoot } from '../src/package-root.ts';
import { validateTree } from '../src/operations/validate-tree.ts';
import { directoryTree } from '../src/sources/directory-tree.ts';
import type { SkillTree } from '../src/sources/skill-tree.ts';

const FOLDERS = ['skills-bundle', 'samples/acme', 'samples/globex'];

const treeOf = (folder: string): Promise<SkillTree> =>
  directoryTree(path.join(packageRoot(), folder), 'strict');

describe.each(FOLDERS)('%s', (folder) => {
  test('is valid in strict mode without a single finding', async () => {
    const { valid, findings, skills } = await validateTree(await treeOf(folder), 'strict');
    expect(findings).toEqual([]);
    expect(valid).toBe(true);
    expect(skills.length).toBeGreaterThanOrEqual(3);
  });

  test('every file is mentioned in its SKILL.md, and every file that is mentioned exists', async () => {
    const { files } = await treeOf(folder);
    const paths = files.map((file) => file.path);
    for (const skill of paths.filter((file) => file.endsWith('/SKILL.md'))) {
      const directory = path.posix.dirname(skill);
      const text = readFileSync(path.join(packageRoot(), folder, skill), 'utf8');
      const own = paths.filter((file) => file.startsWith(`${directory}/`) && file !== skill);
      for (const file of own)
        expect([file, text.includes(file.slice(directory.length + 1))]).toEqual([file, true]);
      for (const [mentioned] of text.matchAll(/\b(?:references|scripts|assets)\/[\w.-]*\w/g)) {
        expect(own).toContain(`${directory}/${mentioned}`);
      }
    }
  });
});

describe('the built-in skills', () => {
  test('are five or more, with references, scripts, an image and a PDF', async () => {
    const { files } = await treeOf('skills-bundle');
    const paths = files.map((file) => file.path);
    expect(paths.filter((file) => file.endsWith('/SKILL.md')).length).toBeGreaterThanOrEqual(5);
    for (const pattern of [/\/references\//, /\/scripts\//, /\.png$/, /\.pdf$/]) {
      expect(paths.some((file) => pattern.test(file))).toBe(true);
    }
    expect(files.filter((file) => file.path.includes('/scripts/')).every((file) => file.mode === 0o755)).toBe(
      true,
    );
  });
});
