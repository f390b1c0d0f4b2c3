import type { RootSnapshot } from '../core/catalog/catalog.ts';
import { bundleId } from '../core/ids.ts';
import type { Digest } from '../core/ids.ts';
import { contentDigest } from '../core/manifest/build.ts';
import type { FileEntry } from '../core/manifest/manifest.ts';
import { skillFilesSchema } from '../core/manifest/manifest.ts';
import { parseJson } from '../storage/json.ts';
import { directoryTree } from './directory-tree.ts';
import { indexTree } from './index-tree.ts';

export const BUILTIN_ROOT = { owner: 'builtin', bundle: 'builtin' } as const;

/** All that serving the built-in skills takes but their bytes. Plain JSON. */
export interface BuiltinIndex {
  readonly snapshot: RootSnapshot;
  /** Complete file lists, by the skill's digest. */
  readonly files: Readonly<Record<Digest, readonly FileEntry[]>>;
}

/** Reads the skills that come with the product and validates them strictly. */
export async function indexBuiltin(directory: string): Promise<BuiltinIndex> {
  const lists = new Map<Digest, readonly FileEntry[]>();
  const content = await indexTree(await directoryTree(directory, 'strict'), {
    bundle: bundleId(BUILTIN_ROOT.bundle),
    mode: 'strict',
    sink: {
      file: () => Promise.resolve(),
      skillFiles: (digest, bytes) => {
        lists.set(digest, skillFilesSchema.parse(parseJson(bytes)).files);
        return Promise.resolve();
      },
    },
  });
  const { skills, findings } = content;
  const snapshot: RootSnapshot = {
    root: BUILTIN_ROOT,
    revision: 1,
    digest: contentDigest(content),
    mode: 'strict',
    skills,
    findings,
  };
  // In the order of the skills and not in that of the disk's answers: the same skills give the same text.
  const files = Object.fromEntries(skills.map(({ digest }) => [digest, lists.get(digest) ?? []]));
  return { snapshot, files };
}
