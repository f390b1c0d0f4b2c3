import type { Catalog, CatalogSkill, TagFilter } from '../core/catalog/catalog.ts';
import { filterByTags, locationOf } from '../core/catalog/catalog.ts';
import { rankSkills } from '../core/catalog/ranking.ts';
import { encodeCursor, readCursor } from '../core/cursor.ts';
import type { Finding } from '../core/errors.ts';
import { SkillError } from '../core/errors.ts';
import type { Digest } from '../core/ids.ts';

export interface CatalogQuery extends TagFilter {
  /** Words that name, tags or description must hold; best match first. */
  readonly q: string | undefined;
  readonly limit: number;
  readonly cursor: string | undefined;
}

/** A skill as listed: metadata only. */
export interface Descriptor {
  readonly name: string;
  readonly description: string;
  readonly location: string;
  readonly owner: string;
  readonly bundle: string;
  readonly tags: readonly string[];
  readonly version?: string;
  readonly allowed_tools: readonly string[];
  readonly digest: Digest;
}

export interface CatalogPage {
  readonly skills: readonly Descriptor[];
  /** Of all that match, on whatever page. */
  readonly total: number;
  readonly next_cursor?: string;
  readonly revision: Digest;
}

/**
 * One page of a tenant's catalog, in name order, or best match first with `q` (D1). A cursor belongs to its tenant and
 * query; it goes on after the last name seen, so changes between pages neither repeat nor skip what stayed.
 *
 * @param scope the tenant; part of what a cursor is bound to
 * @throws SkillError invalid_request for a cursor of another tenant or query
 */
export function listCatalog(catalog: Catalog, query: CatalogQuery, scope: string): CatalogPage {
  const tagged = filterByTags(catalog.skills, query);
  const matches = query.q === undefined ? tagged : rankSkills(tagged, query.q);
  const asked = [scope, query.tags, query.match, query.q ?? null];
  const start =
    query.cursor === undefined ? 0 : startOf(readCursor(asked, query.cursor), matches, query.q !== undefined);
  const page = matches.slice(start, start + query.limit);
  const last = page.at(-1);
  const more = start + page.length < matches.length && last !== undefined;
  return {
    skills: page.map(describe),
    total: matches.length,
    ...(more ? { next_cursor: encodeCursor(asked, last.entry.name) } : {}),
    revision: catalog.digest,
  };
}

export function describe({ entry, root }: CatalogSkill): Descriptor {
  return {
    name: entry.name,
    description: entry.description,
    location: locationOf(root, entry),
    owner: root.owner,
    bundle: root.bundle,
    tags: entry.tags,
    ...(entry.version === undefined ? {} : { version: entry.version }),
    allowed_tools: entry.allowed_tools,
    digest: entry.digest,
  };
}

export interface SkillDetails extends Descriptor {
  readonly license?: string;
  readonly compatibility?: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly revision: number;
  readonly mode: string;
  readonly skill_md: { readonly path: string; readonly digest: Digest; readonly size: number };
  readonly file_count: number;
  readonly total_bytes: number;
  readonly findings: readonly Finding[];
}

export function showSkill(catalog: Catalog, name: string): SkillDetails {
  const skill = catalog.byName.get(name);
  if (skill === undefined) throw new SkillError('skill_not_found');
  const { entry } = skill;
  return {
    ...describe(skill),
    ...(entry.license === undefined ? {} : { license: entry.license }),
    ...(entry.compatibility === undefined ? {} : { compatibility: entry.compatibility }),
    metadata: entry.metadata,
    revision: skill.revision,
    mode: skill.mode,
    skill_md: entry.skill_md,
    file_count: entry.file_count,
    total_bytes: entry.total_bytes,
    findings: skill.findings,
  };
}

function startOf(after: string, matches: readonly CatalogSkill[], ranked: boolean): number {
  const at = matches.findIndex(({ entry }) => entry.name === after);
  if (at !== -1) return at + 1;
  // Removed meanwhile: by name the place is still known; by rank it is not, and the list ends rather than repeats.
  const next = matches.findIndex(({ entry }) => entry.name > after);
  return ranked || next === -1 ? matches.length : next;
}
