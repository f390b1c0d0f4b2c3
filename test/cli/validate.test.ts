import { symlink, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { tarGzOf, zipOf } from '../support/archive-bytes.ts';
import { skillMd } from '../support/skills.ts';
import { skillbucket } from '../support/terminal.ts';
import { temporaryFolders } from '../sources/folders.ts';

const folder = temporaryFolders();

const GOOD = { 'demo/SKILL.md': skillMd('demo'), 'demo/references/a.md': 'a' };
const BROKEN = { 'demo/SKILL.md': '---\nname: demo\ndescription: Use when: x\n---\n' };
/** Valid, with a warning. */
const WARNED = { 'demo/SKILL.md': '---\nname: demo\ndescription: fix C # issues\n---\n' };

describe('[J26] validate', () => {
  test('[J26] a folder of skills, one skill, its SKILL.md, a zip and a tar.gz', async () => {
    const root = await folder({
      ...GOOD,
      'x.zip': zipOf(GOOD),
      'x.tar.gz': tarGzOf(GOOD),
      renamed: zipOf(GOOD),
    });
    const skills = await folder(GOOD);
    const given = ['x.zip', 'x.tar.gz', 'renamed', 'demo', 'demo/SKILL.md'].map((name) =>
      path.join(root, name),
    );
    for (const one of [...given, skills]) {
      const { code, out } = await skillbucket(['validate', one]);
      expect({ one, code }).toEqual({ one, code: 0 });
      expect(out).toContain('1 skill');
    }
  });

  test('[J26] a broken one in each form exits 1 and names file, line, code and fix', async () => {
    const root = await folder({ ...BROKEN, 'x.zip': zipOf(BROKEN), 'x.tgz': tarGzOf(BROKEN) });
    for (const name of ['demo', 'demo/SKILL.md', 'x.zip', 'x.tgz']) {
      const { code, out, err } = await skillbucket(['validate', path.join(root, name)]);
      expect({ name, code, out }).toEqual({ name, code: 1, out: '' });
      expect(err).toContain('SKILL.md:3 invalid_yaml');
      expect(err).toContain('fix: ');
    }
  });

  test('[J26] --strict fails on a warning too; without it a warning passes', async () => {
    const root = await folder(WARNED);
    expect((await skillbucket(['validate', root])).code).toBe(0);
    expect((await skillbucket(['validate', root, '--strict'])).code).toBe(1);
    expect((await skillbucket(['validate', '--strict', await folder(GOOD)])).code).toBe(0);
  });

  test('[J26] --strict is not put off by what was only left out', async () => {
    const root = await folder({ ...GOOD, '.DS_Store': 'x', 'readme.md': 'x' });
    const { code, err } = await skillbucket(['validate', root, '--strict']);
    expect(code).toBe(0);
    expect(err).toContain('.DS_Store');
    expect(err).toContain('readme.md');
  });

  test('[J26] --lenient takes what lenient publishing repairs', async () => {
    const root = await folder(BROKEN);
    const { code, err } = await skillbucket(['validate', root, '--lenient']);
    expect(code).toBe(0);
    expect(err).toContain('repaired_yaml');
    expect((await skillbucket(['validate', root, '--lenient', '--strict'])).code).toBe(1);
  });

  test('[J26] --json tells each path, valid or not, and the mode', async () => {
    const [good, broken] = [await folder(GOOD), await folder(BROKEN)];
    const { code, out, err } = await skillbucket(['validate', '--json', good, broken]);
    expect({ code, err }).toEqual({ code: 1, err: '' });
    expect(JSON.parse(out)).toMatchObject({
      valid: false,
      mode: 'strict',
      results: [
        {
          path: good,
          valid: true,
          mode: 'strict',
          skills: [{ name: 'demo', directory: 'demo' }],
          findings: [],
        },
        {
          path: broken,
          valid: false,
          findings: [{ severity: 'error', code: 'invalid_yaml', file: 'demo/SKILL.md', line: 3 }],
        },
      ],
    });
    const strict = await skillbucket(['validate', '--json', '--strict', await folder(WARNED)]);
    expect(strict.code).toBe(1);
    expect(JSON.parse(strict.out)).toMatchObject({ valid: false, results: [{ valid: true }] });
  });

  test('[J26] an archive that is refused as a whole is a finding like others, also for a program', async () => {
    const root = await folder({
      'cut.zip': zipOf(GOOD).subarray(0, 60),
      'up.zip': zipOf({ '../x/SKILL.md': skillMd('x') }),
      'notes.txt': 'no archive',
      empty: '',
      'big.zip': zipOf(GOOD),
    });
    await truncate(path.join(root, 'big.zip'), 3_000_000_000);
    const answers: [string, string][] = [
      ['cut.zip', 'archive_invalid'],
      ['up.zip', 'archive_unsafe'],
      ['notes.txt', 'archive_invalid'],
      ['empty', 'archive_invalid'],
      ['big.zip', 'archive_too_large'],
    ];
    for (const [name, told] of answers) {
      const file = path.join(root, name);
      const { code, out } = await skillbucket(['validate', '--json', file]);
      expect({ name, code }).toEqual({ name, code: 1 });
      expect(JSON.parse(out)).toMatchObject({
        valid: false,
        results: [{ path: file, valid: false, findings: [{ severity: 'error', code: told, file }] }],
      });
      expect((await skillbucket(['validate', file])).err).toContain(told);
    }
  });

  test('[J26] several problems are all told at once', async () => {
    const root = await folder({ ...BROKEN, 'b/SKILL.md': skillMd('other'), 'b/.env': 'KEY=1' });
    await symlink('/etc/hostname', path.join(root, 'b/link.md'));
    const { code, err } = await skillbucket(['validate', root]);
    expect(code).toBe(1);
    for (const told of ['invalid_yaml', 'directory_name_mismatch', 'secret_refused', 'symlink_refused']) {
      expect(err).toContain(told);
    }
  });

  test('[J26] what cannot be read could not run: exit 2, and no stack', async () => {
    const root = await folder({ 'file.md': 'x' });
    await symlink('loop', path.join(root, 'loop'));
    await symlink(root, path.join(root, 'link'));
    for (const name of ['missing', 'file.md/below', 'loop/x', 'link', 'x'.repeat(300)]) {
      const { code, err } = await skillbucket(['validate', path.join(root, name)]);
      expect({ name, code }).toEqual({ name, code: 2 });
      expect(err).toContain('unreadable');
      expect(err).not.toMatch(/^\s+at /m);
    }
    expect((await skillbucket(['validate', '/dev/null'])).code).toBe(2);
  });

  test('a folder without skills is not valid', async () => {
    const { code, err } = await skillbucket(['validate', await folder({ 'readme.md': 'x' })]);
    expect(code).toBe(1);
    expect(err).toContain('no_skills_found');
  });

  test('a skill’s folder is the skill: its name must be the folder’s', async () => {
    const root = await folder({ 'demo/SKILL.md': skillMd('demo') });
    expect((await skillbucket(['validate', path.join(root, 'demo')])).code).toBe(0);
    await writeFile(path.join(root, 'demo/SKILL.md'), skillMd('other'));
    const { code, err } = await skillbucket(['validate', path.join(root, 'demo')]);
    expect(code).toBe(1);
    expect(err).toContain('directory_name_mismatch');
  });
});
