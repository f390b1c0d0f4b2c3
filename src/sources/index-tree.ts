import { setImmediate } from 'node:timers/promises';
import pMap from 'p-map';
import { sha256 } from '../core/digests.ts';
import type { Finding } from '../core/errors.ts';
import { finding, hasErrors, SkillError } from '../core/errors.ts';
import type { SkillMetadata, ValidationMode } from '../core/format/skill-document.ts';
import { parseSkill } from '../core/format/skill-document.ts';
import type { BundleId, Digest } from '../core/ids.ts';
import { MAX_PUBLISHED_FILE_BYTES } from '../core/limits.ts';
import type { BundleContent } from '../core/manifest/build.ts';
import { buildSkill } from '../core/manifest/build.ts';
import type { FileEntry } from '../core/manifest/manifest.ts';
import type { SkillPlan } from '../core/manifest/plan.ts';
import { comparePaths, planTree } from '../core/manifest/plan.ts';
import { mimeTypeOf } from '../core/resources/content-kind.ts';
import type { SkillTree, TreeFile } from './skill-tree.ts';
import { changedMeanwhile } from './skill-tree.ts';

/** Where content goes while it is read; indexing alone has none. */
export interface ContentSink {
  file(digest: Digest, bytes: Uint8Array): Promise<void>;
  skillFiles(digest: Digest, bytes: Uint8Array): Promise<void>;
}

export interface Progress {
  readonly done: number;
  readonly total: number;
}

export interface IndexOptions {
  readonly bundle: BundleId;
  readonly mode: ValidationMode;
  readonly sink?: ContentSink;
  readonly onProgress?: (progress: Progress) => void;
}

/** Skills in work at once, and files of each: what keeps a disk or a bucket busy without holding much in memory. */
const SKILLS_AT_ONCE = 16;
const FILES_AT_ONCE = 4;

/**
 * The build step (D1): reads a tree of skills, validates every SKILL.md, then reads every file once and hands it to the
 * sink. Nothing reaches the sink unless the whole tree is valid.
 *
 * @throws SkillError with all findings when any is an error; its code is the first error's
 */
export async function indexTree(tree: SkillTree, options: IndexOptions): Promise<BundleContent> {
  const { mode } = options;
  const byPath = new Map(tree.files.map((file) => [file.path, file]));
  const plan = planTree([...byPath.keys()], tree.rootName, mode);
  const findings: Finding[] = [...tree.findings, ...plan.findings, ...sizeFindings(tree.files)];
  if (plan.skills.length === 0)
    findings.push(finding('error', 'no_skills_found', 'There is no SKILL.md in it.'));

  // Parsing is work for the processor alone: after each skill everybody else in this process has their turn.
  let turns: Promise<unknown> = Promise.resolve();
  const turn = () => (turns = turns.then(() => setImmediate()));
  const parsed = await pMap(plan.skills, (skill) => parsePlanned(skill, byPath, mode, turn), {
    concurrency: SKILLS_AT_ONCE,
  });
  findings.push(...parsed.flatMap((one) => one.findings));
  findings.push(...duplicateNames(parsed));
  if (hasErrors(findings)) throw refusal(findings);

  const total = plan.skills.reduce((sum, skill) => sum + skill.files.length, 0);
  let done = 0;
  const built = await pMap(
    parsed,
    async ({ skill, metadata, digest }) => {
      const files = await pMap(
        skill.files,
        async (path) => {
          const entry = await readEntry(
            byPath,
            skill,
            path,
            path === skill.skillMd ? digest : undefined,
            options.sink,
          );
          done += 1;
          options.onProgress?.({ done, total });
          return entry;
        },
        { concurrency: FILES_AT_ONCE },
      );
      // Only reached without errors, so every skill has its metadata.
      if (metadata === undefined) throw new TypeError(`${skill.directory} was not parsed`);
      const result = buildSkill(metadata, { directory: skill.directory, skillMd: skill.skillMd }, files);
      await options.sink?.skillFiles(result.entry.digest, result.filesDocument);
      return result;
    },
    { concurrency: SKILLS_AT_ONCE },
  );
  findings.push(...built.flatMap((one) => one.findings));
  const skills = built.map(({ entry }) => entry).sort((a, b) => comparePaths(a.name, b.name));
  return { bundle: options.bundle, mode, skills, findings };
}

/** The refusal that carries all findings; what was asked for is invalid as a whole, whichever the first code. */
export function refusal(findings: readonly Finding[]): SkillError {
  const errors = findings.filter((one) => one.severity === 'error');
  const first = errors[0];
  const files = new Set(errors.map((one) => one.file));
  const detail =
    errors.length === 1 && first !== undefined
      ? `${first.file === undefined || first.message.includes(first.file) ? '' : `${first.file}: `}${first.message} Nothing was changed.`
      : `${errors.length} errors in ${files.size} ${files.size === 1 ? 'file' : 'files'}. Nothing was changed.`;
  return new SkillError(first?.code ?? 'invalid_request', { detail, findings, kind: 'invalid' });
}

interface ParsedPlan {
  readonly skill: SkillPlan;
  readonly metadata: SkillMetadata | undefined;
  readonly findings: readonly Finding[];
  /** Of the SKILL.md that was validated. */
  readonly digest: Digest;
}

const inTree = (skill: SkillPlan, path: string): string =>
  skill.directory === '.' ? path : `${skill.directory}/${path}`;

async function parsePlanned(
  skill: SkillPlan,
  byPath: ReadonlyMap<string, TreeFile>,
  mode: ValidationMode,
  turn: () => Promise<unknown>,
): Promise<ParsedPlan> {
  const path = inTree(skill, skill.skillMd);
  const bytes = await fileAt(byPath, path).read();
  await turn();
  const file = { path, fileName: skill.skillMd, directory: skill.directoryName, bytes };
  const { metadata, findings } = parseSkill(file, mode);
  return { skill, metadata, findings, digest: sha256(bytes) };
}

async function readEntry(
  byPath: ReadonlyMap<string, TreeFile>,
  skill: SkillPlan,
  path: string,
  expected: Digest | undefined,
  sink: ContentSink | undefined,
): Promise<FileEntry> {
  const file = fileAt(byPath, inTree(skill, path));
  const bytes = await file.read();
  const digest = sha256(bytes);
  if (expected !== undefined && digest !== expected) {
    throw changedMeanwhile(file.path);
  }
  await sink?.file(digest, bytes);
  return { path, digest, size: bytes.length, mode: file.mode, mime_type: mimeTypeOf(path, bytes) };
}

function fileAt(byPath: ReadonlyMap<string, TreeFile>, path: string): TreeFile {
  const file = byPath.get(path);
  if (file === undefined) throw new TypeError(`${path} is not in the tree`);
  return file;
}

function sizeFindings(files: readonly TreeFile[]): Finding[] {
  return files
    .filter((file) => file.size > MAX_PUBLISHED_FILE_BYTES)
    .map(({ path, size }) => {
      const message = `${path} has ${size} bytes; a published file may have ${MAX_PUBLISHED_FILE_BYTES}.`;
      return finding('error', 'file_too_large', message, { file: path });
    });
}

/** Inside one root a name is used once (N3); which of two would be served must not be left to chance. */
function duplicateNames(parsed: readonly ParsedPlan[]): Finding[] {
  const first = new Map<string, string>();
  const findings: Finding[] = [];
  for (const { skill, metadata } of parsed) {
    if (metadata === undefined) continue;
    const path = inTree(skill, skill.skillMd);
    const other = first.get(metadata.name);
    if (other === undefined) first.set(metadata.name, path);
    else {
      findings.push(
        finding('error', 'duplicate_skill', `"${metadata.name}" is in ${other} and in ${path}.`, {
          file: path,
        }),
      );
    }
  }
  return findings;
}
