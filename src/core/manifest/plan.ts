import type { Finding } from '../errors.ts';
import { finding } from '../errors.ts';
import { SKILL_FILE_NAME } from '../format/rules.ts';
import type { ValidationMode } from '../format/rules.ts';
import { MAX_DISCOVERY_DEPTH } from '../limits.ts';
import { publishedPathFinding } from './published-path.ts';

/** Which files make up which skill. Paths are relative to the tree and use `/`. */
export interface SkillPlan {
  /** Relative to the tree; `.` when the tree itself is the skill. */
  readonly directory: string;
  /** The name that `name` must equal; undefined when the tree's root has none (an archive). */
  readonly directoryName: string | undefined;
  /** The SKILL.md, relative to the skill. */
  readonly skillMd: string;
  /** Everything of the skill, SKILL.md included, relative to the skill, in path order. */
  readonly files: readonly string[];
}

export interface TreePlan {
  readonly skills: readonly SkillPlan[];
  readonly findings: readonly Finding[];
}

/** What systems put into folders on their own. */
const NOISE_NAMES = new Set(['.ds_store', 'thumbs.db', 'desktop.ini']);
const NOISE_DIRECTORIES = new Set(['__macosx', '.spotlight-v100', '.trashes', '.fseventsd']);
/** History, dependencies: never meant for an agent. */
const EXCLUDED = new Set(['.git', '.svn', '.hg', 'node_modules', '__pycache__']);
const SECRET_NAMES =
  /^(?:\.env(?:\..+)?|id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?|\.npmrc|\.pypirc|\.netrc|\.git-credentials|\.pgpass|\.htpasswd)$/i;
const HARMLESS_ENV = /^\.env\.(?:example|sample|template|dist)$/i;

/** More would only hide the first ones. */
const MAX_LEFT_OUT_FINDINGS = 100;

/**
 * Groups a tree's files into skills: a folder with a SKILL.md is a skill, and everything below belongs to it; inner
 * SKILL.md files are its resources. Whatever is left out is named in a finding, nothing is dropped silently.
 *
 * @param rootName the tree's own directory name, which a skill at the root must agree with
 */
export function planTree(
  paths: readonly string[],
  rootName: string | undefined,
  mode: ValidationMode,
): TreePlan {
  const leftOut: Finding[] = [];
  const findings: Finding[] = [];
  const kept: string[] = [];
  for (const path of [...paths].sort(comparePaths)) {
    const reason = reasonToLeaveOut(path);
    if (reason !== undefined) {
      leftOut.push(finding('info', 'file_left_out', `${path} was left out: ${reason}.`, { file: path }));
    } else if (isSecret(path)) {
      const severity = mode === 'strict' ? 'error' : 'warning';
      const outcome = mode === 'strict' ? '' : '; it was left out';
      findings.push(
        finding(severity, 'secret_refused', `${path} looks like a secret${outcome}.`, { file: path }),
      );
    } else {
      kept.push(path);
    }
  }
  const roots = skillRoots(kept);
  const skills = new Map<string, { skillMd: string; files: string[] }>();
  for (const [directory, skillMd] of roots) skills.set(directory, { skillMd, files: [] });
  for (const path of kept) {
    const directory = owningRoot(path, roots);
    if (directory === undefined) {
      const why = isSkillMd(path)
        ? `it is more than ${MAX_DISCOVERY_DEPTH} levels deep`
        : 'it is in no skill';
      leftOut.push(finding('info', 'file_left_out', `${path} was left out: ${why}.`, { file: path }));
      continue;
    }
    const inside = directory === '.' ? path : path.slice(directory.length + 1);
    const unfit = publishedPathFinding(
      directory === '.' && rootName !== undefined ? `${rootName}/${path}` : path,
    );
    if (unfit !== undefined) findings.push(unfit);
    skills.get(directory)?.files.push(inside);
    if (isSkillMd(inside) && inside.includes('/')) {
      findings.push(
        finding('info', 'nested_skill', `${path} is inside the skill ${directory} and a resource of it.`, {
          file: path,
        }),
      );
    }
  }
  return {
    skills: [...skills].map(([directory, { skillMd, files }]) => ({
      directory,
      directoryName: directory === '.' ? rootName : directory.slice(directory.lastIndexOf('/') + 1),
      skillMd,
      files,
    })),
    findings: [...findings, ...summarized(leftOut)],
  };
}

/** Order of code units: the same on every system. */
export function comparePaths(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Directory → name of its SKILL.md; of `SKILL.md` and `skill.md` the first is it. */
function skillRoots(paths: readonly string[]): ReadonlyMap<string, string> {
  const all = new Map<string, string>();
  for (const path of paths) {
    if (!isSkillMd(path) || path.split('/').length - 1 > MAX_DISCOVERY_DEPTH) continue;
    const slash = path.lastIndexOf('/');
    const directory = slash === -1 ? '.' : path.slice(0, slash);
    const name = path.slice(slash + 1);
    if (name === SKILL_FILE_NAME || !all.has(directory)) all.set(directory, name);
  }
  return new Map([...all].filter(([directory]) => !ancestors(directory).some((above) => all.has(above))));
}

function owningRoot(path: string, roots: ReadonlyMap<string, string>): string | undefined {
  return ancestors(path).find((directory) => roots.has(directory));
}

/** The directories above, nearest first, `.` last; none above `.` itself. */
function ancestors(path: string): string[] {
  if (path === '.') return [];
  const parts = path.split('/');
  return [...parts.slice(0, -1).map((_, index) => parts.slice(0, parts.length - 1 - index).join('/')), '.'];
}

export function isSkillMd(path: string): boolean {
  return path.slice(path.lastIndexOf('/') + 1).toLowerCase() === SKILL_FILE_NAME.toLowerCase();
}

/** Why a path has no place in a published skill; undefined when it has. */
export function reasonToLeaveOut(path: string): string | undefined {
  const parts = path.split('/');
  const name = parts.at(-1) ?? '';
  const directories = parts.slice(0, -1);
  if (
    NOISE_NAMES.has(name.toLowerCase()) ||
    name.startsWith('._') ||
    parts.some((part) => NOISE_DIRECTORIES.has(part.toLowerCase()))
  ) {
    return 'the system put it there';
  }
  const excluded = directories.find((part) => EXCLUDED.has(part)) ?? (EXCLUDED.has(name) ? name : undefined);
  return excluded === undefined ? undefined : `${excluded} is not for agents`;
}

function isSecret(path: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return SECRET_NAMES.test(name) && !HARMLESS_ENV.test(name);
}

function summarized(leftOut: readonly Finding[]): readonly Finding[] {
  const rest = leftOut.length - MAX_LEFT_OUT_FINDINGS;
  if (rest <= 0) return leftOut;
  const more = finding('info', 'file_left_out', `${rest} more files were left out.`);
  return [...leftOut.slice(0, MAX_LEFT_OUT_FINDINGS), more];
}
