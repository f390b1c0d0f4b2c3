import { canonicalJson } from '../canonical-json.ts';
import { sha256 } from '../digests.ts';
import { finding } from '../errors.ts';
import type { Finding } from '../errors.ts';
import type { Digest, SkillName } from '../ids.ts';
import type { SkillEntry } from '../manifest/manifest.ts';
import type { ValidationMode } from '../format/skill-document.ts';
import { hidingRule } from '../policy/hidden.ts';
import type { TenantPolicy } from '../policy/tenant-policy.ts';
import { DEFAULT_RULES } from '../policy/tenant-policy.ts';

/** Where skills come from: a bundle of an owner. */
export interface RootRef {
  readonly owner: string;
  readonly bundle: string;
}

/** The complete current state of one root. */
export interface RootSnapshot {
  readonly root: RootRef;
  readonly revision: number;
  readonly digest: Digest;
  readonly mode: ValidationMode;
  readonly skills: readonly SkillEntry[];
  readonly findings: readonly Finding[];
}

/** A skill in a tenant's catalog, with the state that it was listed from. */
export interface CatalogSkill {
  readonly entry: SkillEntry;
  readonly root: RootRef;
  readonly revision: number;
  readonly mode: ValidationMode;
  /** Findings about this skill's own files. */
  readonly findings: readonly Finding[];
}

/** What one tenant sees. Immutable. */
export interface Catalog {
  /** In name order. */
  readonly skills: readonly CatalogSkill[];
  readonly byName: ReadonlyMap<string, CatalogSkill>;
  readonly findings: readonly Finding[];
  /** Digest of what it was composed from, in order: equal for equal catalogs. */
  readonly digest: Digest;
}

/** `bundle://owner/bundle/directory`: an opaque location, never a path of ours. */
export function locationOf(root: RootRef, entry: { readonly directory: string }): string {
  const base = `bundle://${root.owner}/${root.bundle}`;
  return entry.directory === '.' ? base : `${base}/${entry.directory}`;
}

/** How findings name a skill's SKILL.md. */
export function skillMdPathOf(entry: SkillEntry): string {
  return entry.directory === '.' ? entry.skill_md.path : `${entry.directory}/${entry.skill_md.path}`;
}

/** What of a tenant's policy decides about single skills. */
export type CatalogRules = Pick<TenantPolicy, 'hidden' | 'validation'>;

/**
 * The first root with a name wins; each loser is reported with both files (J5). A hidden skill is absent, and so is what
 * findings would tell of it; no loser takes its place, which would be another skill under a name that was hidden.
 *
 * @param rejected findings about roots that are left out
 */
export function composeCatalog(
  snapshots: readonly RootSnapshot[],
  rules: CatalogRules = DEFAULT_RULES,
  rejected: readonly Finding[] = [],
): Catalog {
  const winners = new Map<SkillName, CatalogSkill>();
  const findings: Finding[] = [...rejected];
  for (const snapshot of snapshots) {
    const base = locationOf(snapshot.root, { directory: '.' });
    if (rules.validation === 'strict' && snapshot.mode !== 'strict') {
      findings.push(notStrict(base));
      continue;
    }
    const hidden = snapshot.skills.filter((entry) => hidingRule(rules.hidden, entry) !== undefined);
    for (const one of withoutHidden(snapshot.findings, hidden)) {
      findings.push(one.file === undefined ? one : { ...one, file: `${base}/${one.file}` });
    }
    for (const entry of snapshot.skills) {
      const file = skillMdPathOf(entry);
      const selected = winners.get(entry.name);
      if (selected !== undefined) {
        if (hidden.includes(entry) || hidingRule(rules.hidden, selected.entry) !== undefined) continue;
        findings.push(shadowed(entry.name, locationOfFile(selected), `${base}/${file}`));
        continue;
      }
      winners.set(entry.name, {
        entry,
        root: snapshot.root,
        revision: snapshot.revision,
        mode: snapshot.mode,
        findings: snapshot.findings.filter((one) => one.file === file),
      });
    }
  }
  const skills = [...winners.values()]
    .filter(({ entry }) => hidingRule(rules.hidden, entry) === undefined)
    .sort((a, b) => (a.entry.name < b.entry.name ? -1 : 1));
  const states = snapshots.map(({ root, revision, digest }) => ({ root, revision, digest }));
  return {
    skills,
    byName: new Map(skills.map((skill) => [skill.entry.name, skill])),
    findings,
    digest: sha256(canonicalJson({ states, hidden: rules.hidden, validation: rules.validation, rejected })),
  };
}

/** Findings that are about none of the hidden skills. */
export function withoutHidden(
  findings: readonly Finding[],
  hidden: readonly SkillEntry[],
): readonly Finding[] {
  if (hidden.length === 0) return findings;
  const isOf = (file: string, { directory }: SkillEntry) =>
    directory === '.' || file === directory || file.startsWith(`${directory}/`);
  return findings.filter(({ file }) => file === undefined || !hidden.some((entry) => isOf(file, entry)));
}

function notStrict(base: string): Finding {
  return finding('warning', 'untrusted_skill_path', `${base} was published leniently and is left out.`, {
    file: base,
    fix: 'Publish it in strict mode, or let the policy take `validation: "lenient"`.',
  });
}

/** The `shadowed_skill` diagnostic; directories and bundles say it alike (J5). */
export function shadowed(name: string, selectedFile: string, shadowedFile: string): Finding {
  return finding(
    'warning',
    'shadowed_skill',
    `"${name}": ${selectedFile} is used; ${shadowedFile} is shadowed by it.`,
    {
      file: shadowedFile,
    },
  );
}

function locationOfFile(skill: CatalogSkill): string {
  return `${locationOf(skill.root, { directory: '.' })}/${skillMdPathOf(skill.entry)}`;
}

export interface TagFilter {
  readonly tags: readonly string[];
  readonly match: 'any' | 'all';
}

/** Skills that carry any, or all, of the tags; no tags means every skill (J22). */
export function filterByTags(skills: readonly CatalogSkill[], filter: TagFilter): readonly CatalogSkill[] {
  if (filter.tags.length === 0) return skills;
  return skills.filter(({ entry }) =>
    filter.match === 'all'
      ? filter.tags.every((tag) => entry.tags.includes(tag))
      : filter.tags.some((tag) => entry.tags.includes(tag)),
  );
}
