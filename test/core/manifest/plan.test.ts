import { describe, expect, test } from 'vitest';
import type { Finding } from '../../../src/core/errors.ts';
import { planTree } from '../../../src/core/manifest/plan.ts';
import type { TreePlan } from '../../../src/core/manifest/plan.ts';

const MODES = ['strict', 'lenient'] as const;

const plan = (paths: readonly string[], mode: 'strict' | 'lenient' = 'strict') =>
  planTree(paths, 'tree', mode);
const told = (findings: readonly Finding[]): string[] =>
  findings.map((one) => `${one.severity} ${one.code} ${one.file ?? ''}`);
const filesOf = ({ skills }: TreePlan): Record<string, readonly string[]> =>
  Object.fromEntries(skills.map((one) => [one.directory, one.files]));

describe('Which files make up which skill', () => {
  test('each folder with a SKILL.md, and all that lies below it', () => {
    const result = plan([
      'b/x/SKILL.md',
      'a/scripts/deep/er/run.sh',
      'a/SKILL.md',
      'b/x/y.md',
      'a/DEEPENING.md',
    ]);
    expect(result).toEqual({
      skills: [
        {
          directory: 'a',
          directoryName: 'a',
          skillMd: 'SKILL.md',
          files: ['DEEPENING.md', 'SKILL.md', 'scripts/deep/er/run.sh'],
        },
        { directory: 'b/x', directoryName: 'x', skillMd: 'SKILL.md', files: ['SKILL.md', 'y.md'] },
      ],
      findings: [],
    });
  });

  test('the order of the paths does not matter', () => {
    const paths = ['a/SKILL.md', 'a/b/SKILL.md', 'c/SKILL.md', '.DS_Store', 'x.md', 'c/.env'];
    expect(plan(paths.toReversed())).toEqual(plan(paths));
  });

  test('a SKILL.md at the root makes the root the skill, with everything beside it', () => {
    const paths = ['SKILL.md', 'scripts/run.sh', 'x/SKILL.md', 'x/y.md'];
    for (const mode of MODES) {
      const result = plan(paths, mode);
      expect(result.skills).toEqual([
        { directory: '.', directoryName: 'tree', skillMd: 'SKILL.md', files: paths },
      ]);
      expect(told(result.findings)).toEqual(['info nested_skill x/SKILL.md']);
    }
    expect(planTree(paths, undefined, 'strict').skills[0]).toMatchObject({ directoryName: undefined });
  });

  test('an inner SKILL.md is a resource of the outer skill, and that is told', () => {
    const result = plan([
      'a/SKILL.md',
      'a/references/x/SKILL.md',
      'a/references/x/y.md',
      'a/node_modules/p/SKILL.md',
    ]);
    expect(filesOf(result)).toEqual({ a: ['SKILL.md', 'references/x/SKILL.md', 'references/x/y.md'] });
    expect(told(result.findings)).toEqual([
      'info nested_skill a/references/x/SKILL.md',
      'info file_left_out a/node_modules/p/SKILL.md',
    ]);
  });

  test('a folder whose name begins like a skill’s is another folder', () => {
    const result = plan(['a/SKILL.md', 'ab/x.md', 'a-b/SKILL.md', 'a.md']);
    expect(filesOf(result)).toEqual({ 'a-b': ['SKILL.md'], a: ['SKILL.md'] });
    expect(told(result.findings)).toEqual(['info file_left_out a.md', 'info file_left_out ab/x.md']);
  });

  test.each(['skill.md', 'Skill.md', 'SKILL.MD'])(
    '[J23] %s is found, and refused or not by its name later',
    (name) => {
      expect(plan([`demo/${name}`, 'demo/x.md']).skills).toMatchObject([
        { directory: 'demo', skillMd: name },
      ]);
    },
  );

  test('of two spellings the right one is the SKILL.md, and the other a file', () => {
    expect(plan(['demo/Skill.md', 'demo/SKILL.md', 'demo/skill.md']).skills).toMatchObject([
      { skillMd: 'SKILL.md', files: ['SKILL.md', 'Skill.md', 'skill.md'] },
    ]);
  });

  test('[J4] six levels deep; what is deeper is named', () => {
    const result = plan(['1/2/3/4/5/6/SKILL.md', 'x/2/3/4/5/6/7/SKILL.md', 'x/2/3/4/5/6/7/y.md']);
    expect(Object.keys(filesOf(result))).toEqual(['1/2/3/4/5/6']);
    expect(told(result.findings)).toEqual([
      'info file_left_out x/2/3/4/5/6/7/SKILL.md',
      'info file_left_out x/2/3/4/5/6/7/y.md',
    ]);
  });

  test('no file is no skill and no finding', () => {
    expect(plan([])).toEqual({ skills: [], findings: [] });
  });
});

describe('What is left out', () => {
  test.each([
    ...['.DS_Store', 'x/.ds_store', 'Thumbs.db', 'thumbs.db', 'desktop.ini', '._SKILL.md', 'x/._y'],
    ...['__MACOSX/demo/._SKILL.md', '__MACOSX/x', '.Trashes/1', '.Spotlight-V100/store'],
    ...[
      '.git/config',
      '.git',
      'x/.git/HEAD',
      'node_modules/p/SKILL.md',
      '.svn/x',
      '.hg/x',
      '__pycache__/a.pyc',
    ],
  ])('%s does not get in, in neither mode, and is named', (name) => {
    for (const mode of MODES) {
      const result = plan(['demo/SKILL.md', `demo/${name}`], mode);
      expect(filesOf(result)).toEqual({ demo: ['SKILL.md'] });
      expect(told(result.findings)).toEqual([`info file_left_out demo/${name}`]);
    }
  });

  test('noise goes before the root is looked for', () => {
    const result = plan([
      '__MACOSX/SKILL.md',
      '__MACOSX/demo/._SKILL.md',
      '._SKILL.md',
      '.DS_Store',
      'demo/SKILL.md',
    ]);
    expect(filesOf(result)).toEqual({ demo: ['SKILL.md'] });
    expect(plan(['._SKILL.md', '__MACOSX/SKILL.md']).skills).toEqual([]);
  });

  test.each([
    ...[
      '.env',
      '.env.local',
      '.env.production',
      '.ENV',
      'id_rsa',
      'id_ed25519',
      'ID_RSA',
      'id_ecdsa_sk',
      '.npmrc',
    ],
    ...['.netrc', '.pypirc', '.git-credentials', '.pgpass', '.htpasswd', 'deep/er/.env'],
  ])('%s is refused in strict, and left out with a warning in lenient', (name) => {
    for (const mode of MODES) {
      const result = plan(['demo/SKILL.md', `demo/${name}`], mode);
      const severity = mode === 'strict' ? 'error' : 'warning';
      expect(filesOf(result)).toEqual({ demo: ['SKILL.md'] });
      expect(told(result.findings)).toEqual([`${severity} secret_refused demo/${name}`]);
    }
  });

  test.each([
    ...[
      '.env.example',
      '.env.sample',
      '.env.template',
      '.gitignore',
      '.editorconfig',
      '.prettierrc',
      'env',
      'id_rsa.md',
    ],
    ...['id_rsa.pub', 'gitconfig', 'node_modules.md', '.github/x.yml', 'environment', 'x._y'],
  ])('%s is harmless and kept', (name) => {
    const result = plan(['demo/SKILL.md', `demo/${name}`]);
    expect(filesOf(result)['demo']).toContain(name);
    expect(result.findings).toEqual([]);
  });

  test('beyond a hundred files left out they are counted', () => {
    const { findings } = plan([
      'demo/SKILL.md',
      ...Array.from({ length: 150 }, (_, index) => `loose-${index}.md`),
    ]);
    expect(findings).toHaveLength(101);
    expect(findings.at(-1)?.message).toContain('50');
  });
});

describe('Nothing is dropped in silence', () => {
  const NAMES = [
    'SKILL.md',
    'skill.md',
    'a.md',
    '.DS_Store',
    '._a',
    '.env',
    '.env.example',
    'id_rsa',
    '100%.md',
  ];
  const FOLDERS = [
    '',
    'a',
    'a/b',
    'a/b/c',
    '.git',
    'node_modules/p',
    '__MACOSX',
    '1/2/3/4/5/6',
    '1/2/3/4/5/6/7',
    'z',
  ];
  const ALL = FOLDERS.flatMap((directory) =>
    NAMES.map((name) => (directory === '' ? name : `${directory}/${name}`)),
  );

  /** Each path of a subset stands in exactly one skill, or is named in a finding. */
  function expectEveryPathNamed(paths: readonly string[], mode: 'strict' | 'lenient'): void {
    const { skills, findings } = plan(paths, mode);
    const kept = skills.flatMap(({ directory, files }) =>
      files.map((file) => (directory === '.' ? file : `${directory}/${file}`)),
    );
    const named = findings.filter((one) => one.code !== 'nested_skill').map((one) => one.file);
    expect([...kept, ...named].toSorted()).toEqual(paths.toSorted());
    for (const one of skills) expect(one.files).toContain(one.skillMd);
  }

  test.each(MODES)('%s: every path is in a skill or named in a finding', (mode) => {
    expectEveryPathNamed(ALL, mode);
    // Every subset of a fixed stride, so that roots come and go.
    for (let step = 2; step <= 13; step += 1) {
      for (let offset = 0; offset < step; offset += 1) {
        expectEveryPathNamed(
          ALL.filter((_, index) => index % step === offset),
          mode,
        );
      }
    }
    for (const name of NAMES)
      expectEveryPathNamed(
        ALL.filter((one) => !one.endsWith(`/${name}`) && one !== name),
        mode,
      );
  });
});
