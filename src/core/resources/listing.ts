import { utf8Length } from '../format/utf8.ts';
import type { Digest } from '../ids.ts';
import type { ResourcePolicy } from '../limits.ts';
import type { FileEntry } from '../manifest/manifest.ts';

export type ResourceType = 'script' | 'reference' | 'asset' | 'file';

/** A file-backed resource as an agent sees it. */
export interface ResourceEntry {
  readonly relative_path: string;
  readonly name: string;
  readonly size: number;
  readonly type: ResourceType;
  readonly mime_type: string;
  readonly digest: Digest;
}

/** Limits that a listing can reach, named as in the policy. */
export type TruncationReason = 'max_resources' | 'max_depth' | 'max_directories' | 'max_listing_bytes';

/** What a session may load: the policy's view of a skill's files (J17, J21). */
export interface Listing {
  readonly entries: readonly ResourceEntry[];
  readonly truncation_reasons: readonly TruncationReason[];
}

/** The listing in the shape of the tool result. */
export interface ResourceListing {
  readonly resources: readonly ResourceEntry[];
  readonly scripts: readonly ResourceEntry[];
  readonly references: readonly ResourceEntry[];
  readonly assets: readonly ResourceEntry[];
  readonly complete: boolean;
  readonly truncated: boolean;
  readonly truncation_reasons: readonly TruncationReason[];
  readonly limits: ResourcePolicy;
}

const TYPES: ReadonlyMap<string, ResourceType> = new Map([
  ['scripts', 'script'],
  ['references', 'reference'],
  ['assets', 'asset'],
]);

/**
 * Applies a policy to a skill's files, in path order. Files that are too deep, or in directories beyond the limit, are
 * passed over; at the first file over the count or the encoded size the listing ends, and the rest is only looked at
 * for what other limits it would reach, since each one is named (J21). SKILL.md is not a resource.
 */
export function authorizeListing(
  files: readonly FileEntry[],
  skillMdPath: string,
  policy: ResourcePolicy,
): Listing {
  const reasons = new Set<TruncationReason>();
  const directories = new Set<string>();
  const entries: ResourceEntry[] = [];
  let ended = false;
  let bytes = utf8Length('[]');
  for (const file of files) {
    if (file.path === skillMdPath) continue;
    const parents = parentsOf(file.path);
    if (parents.length > policy.max_depth) {
      reasons.add('max_depth');
      continue;
    }
    const fresh = parents.filter((parent) => !directories.has(parent));
    if (directories.size + fresh.length > policy.max_directories) {
      reasons.add('max_directories');
      continue;
    }
    for (const parent of fresh) directories.add(parent);
    if (ended) continue;
    if (entries.length >= policy.max_resources) {
      reasons.add('max_resources');
      ended = true;
      continue;
    }
    const entry = toEntry(file);
    bytes += utf8Length(JSON.stringify(entry)) + (entries.length === 0 ? 0 : 1);
    if (bytes > policy.max_listing_bytes) {
      reasons.add('max_listing_bytes');
      ended = true;
      continue;
    }
    entries.push(entry);
  }
  return { entries, truncation_reasons: [...reasons] };
}

/** The same entries stand in the aggregate and in their group: these are views, not a partition. */
export function groupListing(listing: Listing, limits: ResourcePolicy): ResourceListing {
  const ofType = (type: ResourceType) => listing.entries.filter((entry) => entry.type === type);
  const complete = listing.truncation_reasons.length === 0;
  return {
    resources: listing.entries,
    scripts: ofType('script'),
    references: ofType('reference'),
    assets: ofType('asset'),
    complete,
    truncated: !complete,
    truncation_reasons: listing.truncation_reasons,
    limits,
  };
}

/** Directories of the skill that lead to the file: `a/b/c.md` has `a` and `a/b`. */
function parentsOf(path: string): string[] {
  const parts = path.split('/').slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
}

function toEntry(file: FileEntry): ResourceEntry {
  const slash = file.path.indexOf('/');
  return {
    relative_path: file.path,
    name: file.path.slice(file.path.lastIndexOf('/') + 1),
    size: file.size,
    type: (slash === -1 ? undefined : TYPES.get(file.path.slice(0, slash))) ?? 'file',
    mime_type: file.mime_type,
    digest: file.digest,
  };
}
