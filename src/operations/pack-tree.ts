import { packTarGz } from '../archives/pack-tar-gz.ts';
import { SkillError } from '../core/errors.ts';
import type { Finding } from '../core/errors.ts';
import type { ValidationMode } from '../core/format/skill-document.ts';
import type { BundleId, Digest } from '../core/ids.ts';
import { ARCHIVE_LIMITS } from '../core/limits.ts';
import type { BundleContent } from '../core/manifest/build.ts';
import type { SkillEntry } from '../core/manifest/manifest.ts';
import { contentDigest } from '../core/manifest/build.ts';
import { planTree } from '../core/manifest/plan.ts';
import { indexTree } from '../sources/index-tree.ts';
import type { SkillTree, TreeFile } from '../sources/skill-tree.ts';
import { changedMeanwhile, memoryTree } from '../sources/skill-tree.ts';

export interface PackedTree {
  readonly archive: Uint8Array;
  /** Of the bundle that publishing the archive makes. */
  readonly digest: Digest;
  readonly content: BundleContent;
  /** All that is to be said of the tree, also of what is not in the archive. */
  readonly findings: readonly Finding[];
}

/**
 * Validates a tree and packs what publishing would keep of it, so that nothing that is left out (history, noise,
 * secrets) leaves the machine.
 *
 * @throws SkillError with findings, as publishing would; archive_too_large
 */
export async function packTree(
  tree: SkillTree,
  options: { readonly bundle: BundleId; readonly mode: ValidationMode },
): Promise<PackedTree> {
  const { skills, findings } = await indexTree(tree, options);
  const chosen = chosenFiles(tree, options.mode);
  checkSizes(chosen.map(({ file }) => file));
  const files = [];
  for (const { path, file } of chosen) files.push({ path, mode: file.mode, bytes: await file.read() });
  // Indexed again as the service will see it: the names of directories count.
  const content = await indexTree(memoryTree(files), options);
  checkUnchanged(skills, content.skills);
  const archive = await packTarGz(files);
  if (archive.length > ARCHIVE_LIMITS.maxPackedBytes)
    throw tooLarge(
      archive.length,
      'packed',
      chosen.map(({ file }) => file),
    );
  return { archive, digest: contentDigest(content), content, findings };
}

/** A skill that is the tree itself gets a folder of its name, which it must agree with. */
function chosenFiles(
  tree: SkillTree,
  mode: ValidationMode,
): { readonly path: string; readonly file: TreeFile }[] {
  const byPath = new Map(tree.files.map((file) => [file.path, file]));
  const { skills } = planTree([...byPath.keys()], tree.rootName, mode);
  return skills.flatMap(({ directory, files }) =>
    files.flatMap((inside) => {
      const own = directory === '.' ? inside : `${directory}/${inside}`;
      const file = byPath.get(own);
      const folder = directory === '.' ? tree.rootName : undefined;
      return file === undefined ? [] : [{ path: folder === undefined ? own : `${folder}/${own}`, file }];
    }),
  );
}

/** The state of a file tells most changes; its content tells the rest. */
function checkUnchanged(validated: readonly SkillEntry[], packed: readonly SkillEntry[]): void {
  for (const skill of packed) {
    const before = validated.find((one) => one.name === skill.name);
    if (before?.digest === skill.digest) continue;
    const known = new Map(before?.files?.map((file) => [file.path, file.digest]));
    const file = skill.files?.find((one) => known.get(one.path) !== one.digest);
    throw changedMeanwhile(`${skill.directory}/${(file ?? skill.skill_md).path}`);
  }
}

function checkSizes(files: readonly TreeFile[]): void {
  if (files.length > ARCHIVE_LIMITS.maxEntries) {
    throw new SkillError('archive_too_large', {
      detail: `The skills have ${files.length} files; a bundle that is uploaded may have ${ARCHIVE_LIMITS.maxEntries}.`,
    });
  }
  const bytes = files.reduce((sum, file) => sum + file.size, 0);
  if (bytes > ARCHIVE_LIMITS.maxUnpackedBytes) throw tooLarge(bytes, 'unpacked', files);
}

const LARGEST_NAMED = 3;

function tooLarge(bytes: number, what: 'packed' | 'unpacked', files: readonly TreeFile[]): SkillError {
  const limit = what === 'packed' ? ARCHIVE_LIMITS.maxPackedBytes : ARCHIVE_LIMITS.maxUnpackedBytes;
  const largest = [...files]
    .sort((a, b) => b.size - a.size)
    .slice(0, LARGEST_NAMED)
    .map((file) => `${file.path} (${file.size})`);
  return new SkillError('archive_too_large', {
    detail: `The skills have ${bytes} bytes ${what}; a bundle that is uploaded may have ${limit}. The largest files: ${largest.join(', ')}.`,
    facts: { size: bytes, limit },
  });
}
