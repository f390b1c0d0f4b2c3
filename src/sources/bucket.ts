import { LRUCache } from 'lru-cache';
import type { RootSnapshot } from '../core/catalog/catalog.ts';
import { sha256 } from '../core/digests.ts';
import type { BundleId, Digest, TenantId } from '../core/ids.ts';
import { DOWNLOAD_URL_SECONDS } from '../core/limits.ts';
import type { FileEntry } from '../core/manifest/manifest.ts';
import { skillFilesSchema } from '../core/manifest/manifest.ts';
import { fileKey, skillFilesKey } from '../core/manifest/object-keys.ts';
import { parseJson } from '../storage/json.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import { mustGet } from '../storage/object-store.ts';
import type { Transfers } from '../storage/transfers.ts';
import type { SkillSource } from './source.ts';

/** File lists that have been read, by tenant and digest: immutable, so never stale. */
export type FileListCache = LRUCache<string, readonly FileEntry[]>;

export function fileListCache(): FileListCache {
  // Entries are counted; a list holds a few dozen to a few thousand of them.
  return new LRUCache({ maxSize: 100_000, sizeCalculation: (files) => files.length + 1 });
}

/** One bundle of a tenant, as the source of its skills. `objects` and `transfers` are bound to the tenant. */
export function bucketSource(parts: {
  readonly tenant: TenantId;
  readonly bundle: BundleId;
  readonly objects: ObjectStore;
  readonly transfers: Transfers;
  readonly snapshot: () => Promise<RootSnapshot | undefined>;
  readonly fileLists: FileListCache;
}): SkillSource {
  const { tenant, bundle, objects, transfers, fileLists } = parts;
  const root = { owner: tenant, bundle };
  return {
    root,
    discover: parts.snapshot,
    async files(skill) {
      const key = `${tenant}/${skill}`;
      const known = fileLists.get(key);
      if (known !== undefined) return known;
      const bytes = await readDigest(objects, skillFilesKey(skill), skill);
      const { files } = skillFilesSchema.parse(parseJson(bytes));
      fileLists.set(key, files);
      return files;
    },
    read: (file) => readDigest(objects, fileKey(file), file),
    link: (file, filename) => transfers.signGet(fileKey(file), filename, DOWNLOAD_URL_SECONDS),
  };
}

/** Content that is not what its key says is an incident. */
async function readDigest(objects: ObjectStore, key: string, digest: Digest): Promise<Uint8Array> {
  const { bytes } = await mustGet(objects, key);
  if (sha256(bytes) !== digest) throw new Error(`The bucket holds other bytes than ${digest} at ${key}.`);
  return bytes;
}
