import { describe, expect, test } from 'vitest';
import { SkillError } from '../../../src/core/errors.ts';
import { DEFAULT_RESOURCE_POLICY } from '../../../src/core/limits.ts';
import { authorizeListing } from '../../../src/core/resources/listing.ts';
import { selectResource } from '../../../src/core/resources/selector.ts';
import { filesOf } from './files.ts';

const ODD_NAMES = [
  '100%.md',
  'a%2Fb.md',
  'a@b/c.md',
  '%2e%2e/x.md',
  'with blank.md',
  'ü/🦆.md',
  '.hidden',
  '...',
  'a..b/c',
];
const files = filesOf('DEEPENING.md', 'references/guide.md', 'references/SKILL.md', ...ODD_NAMES);
const { entries } = authorizeListing(files, 'SKILL.md', DEFAULT_RESOURCE_POLICY);

function answer(path: string, skillMd = 'SKILL.md'): string {
  try {
    return selectResource(entries, path, skillMd).relative_path;
  } catch (error) {
    if (error instanceof SkillError) return error.code;
    throw error;
  }
}

describe('[J20] selecting a listed resource', () => {
  test.each(['DEEPENING.md', 'references/guide.md', 'references/SKILL.md', ...ODD_NAMES])(
    '[J20] %s is listed, so it can be loaded',
    (path) => {
      expect(answer(path)).toBe(path);
    },
  );

  test.each([
    ...['../x', '..', 'references/../../x', 'references/..', 'a/../guide.md', '../../etc/passwd'],
    ...['%2e%2e/x', '..%2fx', '%2E%2E%2Fx', '..%2F..%2Fother', 'references%2f..%2f..%2fx'],
    ...['%252e%252e%252fx', '%25252e%25252e%25252fx', '..%255cx', '%2525252525252e.%2f'],
    ...['..\\x', '..%5cx', 'references\\guide.md', '\\\\server\\share', '%5c%5cserver'],
    ...['/etc/passwd', '%2fetc%2fpasswd', '//etc/passwd', 'C:\\x', 'c:/x', 'C:x', '%43:%2fx'],
    ...['a\u0000b', 'references/guide.md\u0000', 'a%00b', 'a%2500b', 'a\nb', 'a\u007fb', 'a%0ab'],
    ...['', '.', './DEEPENING.md', 'references/', 'references//guide.md', 'references/./guide.md', '%2e/x'],
    ...['a\ud800b'],
  ])('[J20] %j is no path inside the skill', (path) => {
    expect(answer(path)).toBe('invalid_resource_path');
  });

  test.each(['SKILL.md', 'skill.md', 'Skill.MD'])('[J20] %s is not a resource', (path) => {
    expect(answer(path)).toBe('skill_md_not_a_resource');
  });

  test('[J20] nor is the SKILL.md of a skill that spells it otherwise', () => {
    expect(answer('skill.md', 'skill.md')).toBe('skill_md_not_a_resource');
  });

  test.each([
    ...['missing.md', 'deepening.md', 'DEEPENING.MD', ' DEEPENING.md', 'DEEPENING.md ', 'references', '.env'],
    // Other spellings of listed names: a listed name is matched byte for byte.
    ...[
      'references%2Fguide.md',
      'DEEPENING%2Emd',
      '100%25.md',
      'u\u0308/🦆.md',
      '%c0%ae%c0%ae/x',
      '~/x',
      'file:x',
    ],
  ])('[J19] %j is well-formed but not listed', (path) => {
    expect(answer(path)).toBe('resource_not_listed');
  });

  test('[J11] what the policy cut off cannot be loaded', () => {
    const cut = authorizeListing(files, 'SKILL.md', { ...DEFAULT_RESOURCE_POLICY, max_resources: 1 });
    expect(cut.entries).toHaveLength(1);
    expect(() => selectResource(cut.entries, 'references/guide.md', 'SKILL.md')).toThrow(
      expect.objectContaining({ code: 'resource_not_listed' }),
    );
  });
});
