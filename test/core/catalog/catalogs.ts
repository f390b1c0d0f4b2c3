import type { CatalogSkill, RootSnapshot } from '../../../src/core/catalog/catalog.ts';
import { sha256 } from '../../../src/core/digests.ts';
import type { Finding } from '../../../src/core/errors.ts';
import { skillName } from '../../../src/core/ids.ts';
import type { SkillEntry } from '../../../src/core/manifest/manifest.ts';

/** A manifest entry; what a test does not care about is filled in. */
export function entryOf(name: string, more: Partial<SkillEntry> = {}): SkillEntry {
  return {
    name: skillName(name),
    description: `Does ${name}.`,
    directory: name,
    frontmatter: `name: ${name}\n`,
    metadata: {},
    allowed_tools: [],
    tags: [],
    digest: sha256(name),
    skill_md: { path: 'SKILL.md', digest: sha256(`${name} md`), size: 10 },
    file_count: 1,
    total_bytes: 10,
    ...more,
  };
}

export function snapshotOf(
  bundle: string,
  skills: readonly SkillEntry[],
  findings: readonly Finding[] = [],
): RootSnapshot {
  return {
    root: { owner: 'acme', bundle },
    revision: 1,
    digest: sha256(`${bundle} ${skills.map((one) => one.digest).join()}`),
    mode: 'strict',
    skills,
    findings,
  };
}

export function skillOf(name: string, more: Partial<SkillEntry> = {}): CatalogSkill {
  return {
    entry: entryOf(name, more),
    root: { owner: 'acme', bundle: 'main' },
    revision: 1,
    mode: 'strict',
    findings: [],
  };
}

export const namesOf = (skills: readonly CatalogSkill[]): string[] => skills.map(({ entry }) => entry.name);
