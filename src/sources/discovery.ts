import type { Dirent } from 'node:fs';
import path from 'node:path';
import { shadowed } from '../core/catalog/catalog.ts';
import type { Finding } from '../core/errors.ts';
import { finding, SkillError } from '../core/errors.ts';
import type { SkillMetadata, ValidationMode } from '../core/format/skill-document.ts';
import { parseSkillMetadata } from '../core/format/skill-document.ts';
import {
  EXCLUDED_DIRECTORIES,
  MAX_DISCOVERY_DEPTH,
  MAX_DISCOVERY_DIRECTORIES,
  MAX_FRONTMATTER_BYTES,
} from '../core/limits.ts';
import { isSkillMd } from '../core/manifest/plan.ts';
import { SKILL_FILE_NAME } from '../core/format/rules.ts';
import { listDirectory, readRegularFile } from './file-system.ts';

/** Trust is always explicit (J3): `true`, or a decision per absolute root path. */
export type Trust = boolean | ((root: string) => boolean | Promise<boolean>);

export interface DiscoveryOptions {
  readonly paths: readonly string[];
  /** Absent means that nobody decided, so every root is refused. */
  readonly trust?: Trust;
  readonly maxDepth?: number;
  /** Over all roots. */
  readonly maxDirectories?: number;
  readonly excludeDirectories?: readonly string[];
  readonly mode?: ValidationMode;
}

/** Metadata only: the body is not read (J2, J4). */
export interface DiscoveredSkill extends SkillMetadata {
  readonly root: string;
  /** Absolute. */
  readonly directory: string;
  readonly file: string;
}

export type DirectoryState = 'skill' | 'not_a_skill' | 'unreadable';

export interface Discovery {
  /** In name order; the first root with a name wins (J5). */
  readonly skills: readonly DiscoveredSkill[];
  readonly findings: readonly Finding[];
  /** What each visited directory was found to be; absolute. */
  readonly directories: readonly { readonly path: string; readonly state: DirectoryState }[];
}

/** Enough for the fences and a byte over the limit, so that "too large" can be told. */
const READ_BYTES = MAX_FRONTMATTER_BYTES + 1_024;

/**
 * Finds skills below roots, in root order. A bare list of paths trusts exactly those (J3). Symbolic links are never
 * followed; at most the frontmatter of a file is read.
 *
 * @throws SkillError untrusted_skill_path with the absolute path, discovery_limit_exceeded
 */
export async function discoverSkills(given: readonly string[] | DiscoveryOptions): Promise<Discovery> {
  const options: DiscoveryOptions = isPathList(given) ? { paths: given, trust: true } : given;
  const maxDepth = options.maxDepth ?? MAX_DISCOVERY_DEPTH;
  const maxDirectories = options.maxDirectories ?? MAX_DISCOVERY_DIRECTORIES;
  const excluded = new Set(options.excludeDirectories ?? EXCLUDED_DIRECTORIES);
  // A root named twice is one root: its skills do not shadow themselves.
  const roots = [...new Set(options.paths.map((one) => path.resolve(one)))];
  for (const root of roots) await requireTrust(root, options.trust);

  const winners = new Map<string, DiscoveredSkill>();
  const findings: Finding[] = [];
  const directories: { path: string; state: DirectoryState }[] = [];

  async function visit(root: string, directory: string, depth: number): Promise<void> {
    if (directories.length >= maxDirectories) {
      throw new SkillError('discovery_limit_exceeded', {
        detail: `Discovery stopped at ${directory}: more than ${maxDirectories} directories.`,
        facts: { path: directory, limit: maxDirectories },
      });
    }
    const entries = await listDirectory(directory);
    if (typeof entries === 'string') {
      directories.push({ path: directory, state: 'unreadable' });
      findings.push(finding('warning', 'unreadable', `${directory} is ${entries}.`, { file: directory }));
      return;
    }
    const skillMd = skillMdAmong(entries);
    if (skillMd !== undefined) {
      // What lies below a skill belongs to it.
      directories.push({ path: directory, state: await readSkill(root, directory, skillMd) });
      return;
    }
    directories.push({ path: directory, state: 'not_a_skill' });
    if (depth >= maxDepth) return;
    for (const entry of entries) {
      if (entry.isDirectory() && !excluded.has(entry.name)) {
        await visit(root, path.join(directory, entry.name), depth + 1);
      }
    }
  }

  async function readSkill(root: string, directory: string, fileName: string): Promise<DirectoryState> {
    const file = path.join(directory, fileName);
    let bytes: Uint8Array;
    try {
      ({ bytes } = await readRegularFile(file, { maxBytes: READ_BYTES, partial: true }));
    } catch (error) {
      if (!(error instanceof SkillError)) throw error;
      findings.push(finding('warning', error.code, error.message, { file }));
      return 'unreadable';
    }
    const parsed = parseSkillMetadata(
      { path: file, fileName, directory: path.basename(directory), bytes },
      options.mode ?? 'lenient',
    );
    findings.push(...parsed.findings);
    if (parsed.metadata === undefined) return 'not_a_skill';
    const selected = winners.get(parsed.metadata.name);
    if (selected === undefined)
      winners.set(parsed.metadata.name, { ...parsed.metadata, root, directory, file });
    else if (selected.file !== file) findings.push(shadowed(parsed.metadata.name, selected.file, file));
    return 'skill';
  }

  for (const root of roots) await visit(root, root, 0);
  const skills = [...winners.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  return { skills, findings, directories };
}

/** The name of a directory's SKILL.md: that spelling first, then any other (lenient tells it). */
export function skillMdAmong(entries: readonly Dirent[]): string | undefined {
  const names = entries
    .filter((entry) => isSkillMd(entry.name) && !entry.isDirectory())
    .map((entry) => entry.name);
  return names.includes(SKILL_FILE_NAME) ? SKILL_FILE_NAME : names[0];
}

function isPathList(given: readonly string[] | DiscoveryOptions): given is readonly string[] {
  return Array.isArray(given);
}

async function requireTrust(root: string, trust: Trust | undefined): Promise<void> {
  const trusted = typeof trust === 'function' ? await trust(root) : trust === true;
  if (trusted) return;
  throw new SkillError('untrusted_skill_path', { detail: `${root} is not trusted.`, facts: { path: root } });
}
