import { describe, expect, test } from 'vitest';
import {
  composeCatalog,
  filterByTags,
  locationOf,
  skillMdPathOf,
} from '../../../src/core/catalog/catalog.ts';
import { rankSkills } from '../../../src/core/catalog/ranking.ts';
import { finding } from '../../../src/core/errors.ts';
import { entryOf, namesOf, skillOf, snapshotOf } from './catalogs.ts';

describe('Composing roots', () => {
  const team = snapshotOf('team', [entryOf('b', { description: 'team' }), entryOf('c')]);
  const main = snapshotOf('main', [entryOf('a'), entryOf('b', { description: 'main' })]);

  test('[J5] the first root with a name wins, in whichever order they are given', () => {
    expect(composeCatalog([team, main]).byName.get('b')?.entry.description).toBe('team');
    expect(composeCatalog([main, team]).byName.get('b')?.entry.description).toBe('main');
  });

  test('[J5] each loser is reported with the selected and the shadowed file', () => {
    const third = snapshotOf('third', [entryOf('b', { directory: 'deep/b' })]);
    const { findings } = composeCatalog([team, main, third]);
    expect(findings.map(({ code, severity, file }) => [severity, code, file])).toEqual([
      ['warning', 'shadowed_skill', 'bundle://acme/main/b/SKILL.md'],
      ['warning', 'shadowed_skill', 'bundle://acme/third/deep/b/SKILL.md'],
    ]);
    for (const { message } of findings) expect(message).toContain('bundle://acme/team/b/SKILL.md');
  });

  test('[J22] skills stand in name order, by code unit', () => {
    const names = ['b', 'a-b', 'a', 'ab', '1', 'a1'];
    expect(
      namesOf(
        composeCatalog([
          snapshotOf(
            'main',
            names.map((name) => entryOf(name)),
          ),
        ]).skills,
      ),
    ).toEqual(['1', 'a', 'a-b', 'a1', 'ab', 'b']);
  });

  test('nothing composed is an empty catalog', () => {
    const { skills, findings, byName } = composeCatalog([]);
    expect({ skills, findings, size: byName.size }).toEqual({ skills: [], findings: [], size: 0 });
  });

  test('the digest changes with content and with order, and with nothing else', () => {
    const digest = composeCatalog([team, main]).digest;
    expect(composeCatalog([{ ...team }, { ...main }]).digest).toBe(digest);
    expect(composeCatalog([main, team]).digest).not.toBe(digest);
    expect(composeCatalog([team]).digest).not.toBe(digest);
    expect(composeCatalog([team, { ...main, revision: 2 }]).digest).not.toBe(digest);
  });

  test('findings of a root are kept under its location, and with the skill that they are about', () => {
    const about = finding('warning', 'invalid_field', 'x', { file: 'a/SKILL.md', line: 3 });
    const other = finding('info', 'file_left_out', 'y', { file: '.DS_Store' });
    const { findings, byName } = composeCatalog([snapshotOf('main', [entryOf('a')], [about, other])]);
    expect(findings.map((one) => one.file)).toEqual([
      'bundle://acme/main/a/SKILL.md',
      'bundle://acme/main/.DS_Store',
    ]);
    expect(byName.get('a')?.findings).toEqual([about]);
  });

  test('a skill at the root of a bundle has the location of the bundle', () => {
    const entry = entryOf('a', { directory: '.' });
    expect(locationOf({ owner: 'acme', bundle: 'main' }, entry)).toBe('bundle://acme/main');
    expect(skillMdPathOf(entry)).toBe('SKILL.md');
    expect(skillMdPathOf(entryOf('a'))).toBe('a/SKILL.md');
  });
});

describe('[J22] tags', () => {
  const list = [
    skillOf('a', { tags: ['sql', 'review'] }),
    skillOf('b', { tags: ['sql'] }),
    skillOf('c', { tags: ['SQL'] }),
    skillOf('d'),
  ];
  test.each([
    [['sql'], 'any', ['a', 'b']],
    [['sql', 'review'], 'any', ['a', 'b']],
    [['sql', 'review'], 'all', ['a']],
    [['review', 'sql', 'sql'], 'all', ['a']],
    [['sq'], 'any', []],
    [['none'], 'all', []],
    [[], 'any', ['a', 'b', 'c', 'd']],
    [[], 'all', ['a', 'b', 'c', 'd']],
  ] as const)('[J22] %j matched by %s gives %j', (tags, match, names) => {
    expect(namesOf(filterByTags(list, { tags, match }))).toEqual(names);
  });
});

describe('Ranking', () => {
  const list = [
    skillOf('chart', { description: 'Draws.' }),
    skillOf('chart-choice', { description: 'Chooses a chart for data.', tags: ['visual'] }),
    skillOf('csv', { description: 'Cleans data before a chart is drawn.' }),
    skillOf('japan', { description: '日本語 Größe' }),
  ];
  test.each([
    ['chart', ['chart', 'chart-choice', 'csv']],
    ['  CHART ', ['chart', 'chart-choice', 'csv']],
    ['chart data', ['chart-choice', 'csv']],
    ['cha', ['chart-choice', 'chart', 'csv']],
    ['visual', ['chart-choice']],
    ['größe', ['japan']],
    ['日本語', ['japan']],
    ['nothing', []],
    ['chart nothing', []],
    ['.*', ['chart', 'chart-choice', 'csv', 'japan']],
  ])('%j finds %j', (query, names) => {
    expect(namesOf(rankSkills(list, query))).toEqual(names);
  });

  test('no words leave every skill in its order', () => {
    expect(rankSkills(list, ' - ')).toBe(list);
  });

  test('equal scores stand in name order', () => {
    const equal = ['b', 'c', 'a'].map((name) => skillOf(name, { description: 'same' }));
    expect(namesOf(rankSkills(equal, 'same'))).toEqual(['a', 'b', 'c']);
  });
});
