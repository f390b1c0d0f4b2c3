import { symlink } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { skillMd } from '../support/skills.ts';
import { skillbucket } from '../support/terminal.ts';
import { makePipe, temporaryFolders } from '../sources/folders.ts';

const folder = temporaryFolders();

describe('[J26] list', () => {
  test('[J26] skills by name, with description and file', async () => {
    const root = await folder({
      'z/SKILL.md': skillMd('z', 'Does\n  z.'),
      'a/SKILL.md': skillMd('a', 'Does a.'),
    });
    const { code, out, err } = await skillbucket(['list', root]);
    expect(code).toBe(0);
    expect(out.split('\n').map((line) => line.trim())).toEqual([
      ...['a', 'Does a.', path.join(root, 'a/SKILL.md')],
      ...['z', 'Does z.', path.join(root, 'z/SKILL.md'), ''],
    ]);
    expect(err).toContain('2 skills');
  });

  test('[J26] --json is for a program: skills, findings, directories', async () => {
    const text =
      '---\nname: a\ndescription: d\nmetadata:\n  skillbucket.tags: x y\n  skillbucket.version: "1"\n---\nBODY\n';
    const root = await folder({ 'a/SKILL.md': text, 'b/readme.md': '' });
    const { code, out, err } = await skillbucket(['list', '--json', root]);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(JSON.parse(out)).toEqual({
      skills: [
        { name: 'a', description: 'd', tags: ['x', 'y'], version: '1', file: path.join(root, 'a/SKILL.md') },
      ],
      findings: [],
      directories: [
        { path: root, state: 'not_a_skill' },
        { path: path.join(root, 'a'), state: 'skill' },
        { path: path.join(root, 'b'), state: 'not_a_skill' },
      ],
    });
  });

  test('[J5] the first folder wins, and the shadowed file is told', async () => {
    const first = await folder({ 'a/SKILL.md': skillMd('a', 'first') });
    const second = await folder({ 'a/SKILL.md': skillMd('a', 'second') });
    const { code, out, err } = await skillbucket(['list', first, second]);
    expect(code).toBe(0);
    expect(out).toContain('first');
    expect(out).not.toContain('second');
    expect(err).toContain('shadowed_skill');
    expect(err).toContain(path.join(second, 'a/SKILL.md'));
  });

  test('[J26] a broken SKILL.md is told with file and line, the others are listed, exit 1', async () => {
    const root = await folder({
      'a/SKILL.md': '---\nname: a\ndescription: &x y\n---\n',
      'b/SKILL.md': skillMd('b'),
    });
    const { code, out, err } = await skillbucket(['list', root]);
    expect(code).toBe(1);
    expect(out).toMatch(/^b\n/);
    expect(err).toContain(`${path.join(root, 'a/SKILL.md')}:3 invalid_yaml`);
  });

  test.each(['missing', 'file.md', 'file.md/below', 'loop'])(
    '[J26] a folder that cannot be read: %s',
    async (name) => {
      const root = await folder({ 'good/SKILL.md': skillMd('good'), 'file.md': 'x' });
      await symlink('loop', path.join(root, 'loop'));
      const { code, out, err } = await skillbucket(['list', path.join(root, 'good'), path.join(root, name)]);
      expect(code).toBe(2);
      expect(out).toMatch(/^good\n/);
      expect(err).toContain(path.join(root, name));
      expect(err).toContain('unreadable');
    },
  );

  test('an empty folder has no skills, which is no error', async () => {
    expect(await skillbucket(['list', await folder()])).toMatchObject({ code: 0, out: '' });
  });

  test('control characters of an author do not reach the terminal', async () => {
    const text = '---\nname: a\ndescription: "d\\e[31m"\n"\\e[2Jkey": x\n---\n';
    const root = await folder({ 'a/SKILL.md': text });
    for (const args of [
      ['list', root],
      ['validate', root],
      ['show', path.join(root, 'a')],
    ]) {
      const { out, err } = await skillbucket(args);
      expect(out + err).not.toContain('\u001b');
    }
  });
});

describe('[J26] show', () => {
  const body = '# Title\r\n\n---\n  two  \n\u{1f986} no line end';
  const text = `---\nname: demo\ndescription: Does it.\nallowed-tools: Read Bash(x *)\n---\n${body}`;

  test('[J26] metadata of a folder or a SKILL.md, without the body', async () => {
    const root = await folder({ 'demo/SKILL.md': text });
    for (const given of [path.join(root, 'demo'), path.join(root, 'demo/SKILL.md')]) {
      const { code, out, err } = await skillbucket(['show', given]);
      expect({ code, err }).toEqual({ code: 0, err: '' });
      expect(out).toMatch(/^demo\n/);
      expect(out).toContain('Does it.');
      expect(out).toContain('Read Bash(x *)');
      expect(out).not.toContain('# Title');
    }
  });

  test('[J26] --body prints the exact body last', async () => {
    const root = await folder({ 'demo/SKILL.md': text });
    const { out } = await skillbucket(['show', path.join(root, 'demo'), '--body']);
    expect(out.endsWith(`\n\n${body}`)).toBe(true);
    const asJson = await skillbucket(['show', '--json', '--body', path.join(root, 'demo')]);
    expect(JSON.parse(asJson.out)).toMatchObject({ name: 'demo', instructions: body, findings: [] });
  });

  test('[J26] --json without --body has no body', async () => {
    const root = await folder({ 'demo/SKILL.md': text });
    const { out } = await skillbucket(['show', '--json', path.join(root, 'demo')]);
    expect(out).not.toContain('# Title');
    expect(JSON.parse(out)).toMatchObject({ name: 'demo', allowedTools: ['Read', 'Bash(x *)'] });
  });

  test('[J26] a broken skill is told with line and fix, exit 1', async () => {
    const root = await folder({ 'demo/SKILL.md': '---\nname: demo\n---\n' });
    const { code, out, err } = await skillbucket(['show', path.join(root, 'demo')]);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toContain('missing_field');
    expect(err).toContain('fix: ');
    const asJson = await skillbucket(['show', '--json', path.join(root, 'demo')]);
    expect(asJson.code).toBe(1);
    expect(JSON.parse(asJson.out)).toMatchObject({ findings: [{ code: 'missing_field' }] });
  });

  test('what is listed can be shown: also a SKILL.md of another spelling', async () => {
    const root = await folder({ 'demo/skill.md': skillMd('demo') });
    expect((await skillbucket(['list', root])).out).toMatch(/^demo\n/);
    const { code, out, err } = await skillbucket(['show', path.join(root, 'demo')]);
    expect(code).toBe(0);
    expect(out).toMatch(/^demo\n/);
    expect(err).toContain('wrong_file_name');
  });

  test('a folder without a SKILL.md, a link, a pipe and a missing path', async () => {
    const root = await folder({ 'none/readme.md': '', 'demo/SKILL.md': text, 'link/x': '' });
    await symlink(path.join(root, 'demo/SKILL.md'), path.join(root, 'link/SKILL.md'));
    await makePipe(path.join(root, 'pipe/SKILL.md'));
    const answers: [string, number, string][] = [
      ['none', 1, 'no_skills_found'],
      ['link', 1, 'symlink_refused'],
      ['pipe', 1, 'invalid_resource_path'],
      ['missing', 2, 'unreadable'],
    ];
    for (const [name, code, told] of answers) {
      const ran = await skillbucket(['show', '--json', path.join(root, name)]);
      expect(ran.code, name).toBe(code);
      expect(ran.err).toContain(told);
      expect(JSON.parse(ran.out)).toMatchObject({ code: told });
    }
  });
});
