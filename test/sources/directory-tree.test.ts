import { chmod, link, mkdir, rename, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { SkillError } from '../../src/core/errors.ts';
import type { Finding } from '../../src/core/errors.ts';
import { directoryTree } from '../../src/sources/directory-tree.ts';
import type { SkillTree } from '../../src/sources/skill-tree.ts';
import { skillMd } from '../support/skills.ts';
import { makePipe, temporaryFolders } from './folders.ts';

const folder = temporaryFolders();
const MODES = ['strict', 'lenient'] as const;

const pathsOf = (tree: SkillTree): string[] => tree.files.map((one) => one.path);
const told = (findings: readonly Finding[]): string[] =>
  findings.map((one) => `${one.severity} ${one.code} ${one.file ?? ''}`);

describe('A directory as a tree to publish', () => {
  test('every file, with its size, its executable bit and its bytes', async () => {
    const root = await folder({
      'demo/SKILL.md': skillMd('demo'),
      'demo/scripts/run.sh': '#!/bin/sh\n',
      'demo/logo.png': new Uint8Array([0x89, 0x50, 0, 0xff]),
      'demo/empty': '',
    });
    await chmod(path.join(root, 'demo/scripts/run.sh'), 0o755);
    await chmod(path.join(root, 'demo/logo.png'), 0o666);
    const tree = await directoryTree(root, 'strict');
    expect(tree.rootName).toBe(path.basename(root));
    expect(tree.findings).toEqual([]);
    expect(tree.files.map(({ path: name, size, mode }) => [name, size, mode])).toEqual([
      ['demo/SKILL.md', skillMd('demo').length, 0o644],
      ['demo/empty', 0, 0o644],
      ['demo/logo.png', 4, 0o644],
      ['demo/scripts/run.sh', 10, 0o755],
    ]);
    const logo = await tree.files[2]?.read();
    expect([...(logo ?? [])]).toEqual([0x89, 0x50, 0, 0xff]);
  });

  test('odd names are files like others', async () => {
    const names = ['100%.md', 'a%2Fb.md', 'a@b.md', ' blank', 'ü 🦆.md', '...', '-rf', 'a\nb'].toSorted();
    const root = await folder(Object.fromEntries(names.map((name) => [name, 'x'])));
    expect(pathsOf(await directoryTree(root, 'strict')).toSorted()).toEqual(names);
  });

  test('[J20] links are refused in strict and left out with a warning in lenient, never followed', async () => {
    const outside = await folder({ 'secret.md': 'secret', 'etc/passwd': 'x' });
    const root = await folder({ 'demo/SKILL.md': skillMd('demo'), 'demo/real.md': 'x' });
    const links: readonly (readonly [name: string, target: string])[] = [
      ['demo/dir', path.join(outside, 'etc')],
      ['demo/gone.md', '/nowhere/at/all'],
      ['demo/inside.md', 'real.md'],
      ['demo/outside.md', path.join(outside, 'secret.md')],
      ['demo/self', 'self'],
      ['linked', 'demo'],
    ];
    for (const [name, target] of links) await symlink(target, path.join(root, name));
    for (const mode of MODES) {
      const tree = await directoryTree(root, mode);
      const severity = mode === 'strict' ? 'error' : 'warning';
      expect(pathsOf(tree)).toEqual(['demo/SKILL.md', 'demo/real.md']);
      expect(told(tree.findings)).toEqual(links.map(([name]) => `${severity} symlink_refused ${name}`));
    }
  });

  test('[J20] a SKILL.md that is a link is refused, not read', async () => {
    const outside = await folder({ 'SKILL.md': skillMd('demo') });
    const root = await folder({ 'demo/x.md': 'x' });
    await symlink(path.join(outside, 'SKILL.md'), path.join(root, 'demo/SKILL.md'));
    const tree = await directoryTree(root, 'strict');
    expect(told(tree.findings)).toEqual(['error symlink_refused demo/SKILL.md']);
  });

  test('[J20] hard-link aliases of a SKILL.md are refused in both modes, other hard links are files', async () => {
    const root = await folder({ 'demo/SKILL.md': skillMd('demo'), 'demo/a.md': 'a' });
    const at = (name: string) => path.join(root, name);
    await mkdir(at('demo/references'));
    await mkdir(at('aaa'));
    await link(at('demo/SKILL.md'), at('demo/alias.md'));
    await link(at('demo/SKILL.md'), at('demo/references/SKILL.md'));
    await link(at('demo/SKILL.md'), at('aaa/before.md'));
    await link(at('demo/a.md'), at('demo/b.md'));
    for (const mode of MODES) {
      const tree = await directoryTree(root, mode);
      expect(told(tree.findings)).toEqual([
        'error hard_link_refused aaa/before.md',
        'error hard_link_refused demo/alias.md',
        'error hard_link_refused demo/references/SKILL.md',
      ]);
      expect(pathsOf(tree)).toContain('demo/b.md');
    }
  });

  test('a pipe is not waited for: refused in strict, left out with a warning in lenient', async () => {
    const root = await folder({ 'demo/SKILL.md': skillMd('demo') });
    await makePipe(path.join(root, 'demo/pipe'));
    for (const mode of MODES) {
      const tree = await directoryTree(root, mode);
      const severity = mode === 'strict' ? 'error' : 'warning';
      expect(told(tree.findings)).toEqual([`${severity} file_left_out demo/pipe`]);
      expect(pathsOf(tree)).toEqual(['demo/SKILL.md']);
    }
  });

  test('history and dependencies are not entered, and each is named', async () => {
    const root = await folder({
      'demo/SKILL.md': skillMd('demo'),
      'demo/.git/config': 'x',
      'demo/node_modules/p/SKILL.md': skillMd('p'),
      '__MACOSX/demo/._SKILL.md': 'x',
      'x/.Trashes/y': 'x',
    });
    const tree = await directoryTree(root, 'strict');
    expect(pathsOf(tree)).toEqual(['demo/SKILL.md']);
    expect(told(tree.findings)).toEqual([
      'info file_left_out __MACOSX',
      'info file_left_out demo/.git',
      'info file_left_out demo/node_modules',
      'info file_left_out x/.Trashes',
    ]);
  });

  test('a link named as what is left out anyway does not refuse the skill', async () => {
    const root = await folder({ 'demo/SKILL.md': skillMd('demo') });
    await symlink('/nowhere', path.join(root, 'demo/node_modules'));
    const tree = await directoryTree(root, 'strict');
    expect(told(tree.findings)).toEqual(['info file_left_out demo/node_modules']);
  });

  test('a file whose name is no text is an error in both modes, not dropped', async () => {
    const root = await folder({ 'demo/SKILL.md': skillMd('demo') });
    const name = Buffer.concat([Buffer.from(path.join(root, 'demo/')), Buffer.from([0x61, 0xff, 0x62])]);
    await writeFile(name, 'x');
    for (const mode of MODES) {
      const tree = await directoryTree(root, mode);
      expect(told(tree.findings)).toEqual(['error unreadable demo/a\ufffdb']);
    }
  });

  test('a file that is gone, or has become a link, when it is read is refused', async () => {
    const root = await folder({ 'demo/a.md': 'a', 'demo/b.md': 'b' });
    const tree = await directoryTree(root, 'strict');
    await rm(path.join(root, 'demo/a.md'));
    await rm(path.join(root, 'demo/b.md'));
    await symlink('/etc/hostname', path.join(root, 'demo/b.md'));
    await expect(tree.files[0]?.read()).rejects.toMatchObject({ code: 'unreadable' });
    await expect(tree.files[1]?.read()).rejects.toMatchObject({ code: 'symlink_refused' });
  });

  test.each(['missing', 'file.md', 'file.md/below'])(
    'a folder that is none is unreadable: %s',
    async (name) => {
      const root = await folder({ 'file.md': 'x' });
      await expect(directoryTree(path.join(root, name), 'lenient')).rejects.toThrow(SkillError);
      await expect(directoryTree(path.join(root, name), 'lenient')).rejects.toMatchObject({
        code: 'unreadable',
      });
    },
  );

  test('an empty folder is an empty tree', async () => {
    expect(await directoryTree(await folder(), 'strict')).toMatchObject({ files: [], findings: [] });
  });
});

describe('A file that changes after it was listed is refused when it is read', () => {
  const changes: Readonly<Record<string, (file: string) => Promise<void>>> = {
    'written, of another size': (file) => writeFile(file, 'longer than before'),
    'written, of the same size': (file) => writeFile(file, 'new'),
    'replaced by another': async (file) => {
      await writeFile(`${file}.tmp`, 'new');
      await rename(`${file}.tmp`, file);
    },
    'written, and its time put back': async (file) => {
      const { atime, mtime } = await stat(file);
      await writeFile(file, 'new');
      await utimes(file, atime, mtime);
    },
  };
  test.each(Object.entries(changes))('%s', async (_, change) => {
    const root = await folder({ 'demo/SKILL.md': skillMd('demo'), 'demo/a.md': 'old' });
    const file = path.join(root, 'demo/a.md');
    // Well before the change: the clock of a file system is coarse.
    await utimes(file, new Date(1e12), new Date(1e12));
    const listed = await stat(file);
    const tree = await directoryTree(root, 'strict');
    do await change(file);
    while ((await stat(file)).ctimeMs === listed.ctimeMs);
    await expect(tree.files.find((one) => one.path === 'demo/a.md')?.read()).rejects.toMatchObject({
      code: 'skill_changed',
      findings: [{ file: 'demo/a.md' }],
    });
  });
});
