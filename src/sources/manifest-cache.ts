import { LRUCache } from 'lru-cache';
import type { RootSnapshot } from '../core/catalog/catalog.ts';
import type { BundleId, TenantId } from '../core/ids.ts';
import type { BundleIndex, Manifest } from '../core/manifest/manifest.ts';
import { bundleIndexSchema, manifestSchema } from '../core/manifest/manifest.ts';
import { bundleIndexKey, manifestKey } from '../core/manifest/object-keys.ts';
import { parseJson } from '../storage/json.ts';
import type { ObjectStore } from '../storage/object-store.ts';

/** A bundle's current state, in one object for as long as it is current. */
export interface CurrentBundle {
  readonly manifest: Manifest;
  readonly snapshot: RootSnapshot;
}

/** A tenant's bundles in name order. */
export type TenantBundles = ReadonlyMap<BundleId, CurrentBundle>;

/**
 * Current manifests, kept by tenant and revalidated by ETag at most once a freshness window. The window's check is one
 * conditional read of the tenant's bundle index, which publishers raise before they change a manifest: while it is
 * unmodified no manifest is asked about (docs/decisions/bundle-index.md).
 */
export interface ManifestCache {
  bundles(tenant: TenantId, objects: ObjectStore): Promise<TenantBundles>;
  /** The next call asks the bucket: the process that published sees it at once. */
  forget(tenant: TenantId): void;
}

interface Held extends CurrentBundle {
  readonly etag: string;
  readonly bytes: number;
}

interface State {
  readonly indexEtag: string | undefined;
  readonly index: BundleIndex;
  readonly bundles: ReadonlyMap<BundleId, Held>;
}

interface Slot {
  state: State;
  checkedAt: number;
  running: Promise<State> | undefined;
}

/** Manifests of a process, in bytes as stored; parsed they take a few times that. */
const MAX_CACHED_BYTES = 128 * 1024 * 1024;
const NOTHING: State = { indexEtag: undefined, index: { schema: 1, bundles: {} }, bundles: new Map() };

export function manifestCache(options: {
  readonly freshnessSeconds: number;
  readonly nowMs: () => number;
}): ManifestCache {
  const slots = new LRUCache<TenantId, Slot>({
    maxSize: MAX_CACHED_BYTES,
    sizeCalculation: ({ state }) =>
      1_000 + [...state.bundles.values()].reduce((sum, one) => sum + one.bytes, 0),
  });

  function slotOf(tenant: TenantId): Slot {
    const slot = slots.get(tenant) ?? { state: NOTHING, checkedAt: -Infinity, running: undefined };
    slots.set(tenant, slot);
    return slot;
  }

  function refresh(tenant: TenantId, objects: ObjectStore, slot: Slot): Promise<State> {
    const startedAt = options.nowMs();
    const run = readState(tenant, objects, slot.state).then(
      (state) => {
        // `forget` may have come while it ran: then this answer is right for who asked before, and not kept.
        if (slot.running === run) {
          Object.assign(slot, { state, checkedAt: startedAt, running: undefined });
          slots.set(tenant, slot);
        }
        return state;
      },
      (error: unknown) => {
        if (slot.running === run) slot.running = undefined;
        throw error;
      },
    );
    slot.running = run;
    return run;
  }

  return {
    async bundles(tenant, objects) {
      const slot = slotOf(tenant);
      if (options.nowMs() - slot.checkedAt < options.freshnessSeconds * 1000) return slot.state.bundles;
      const state = await (slot.running ?? refresh(tenant, objects, slot));
      return state.bundles;
    },
    forget(tenant) {
      const slot = slots.get(tenant);
      if (slot !== undefined) Object.assign(slot, { checkedAt: -Infinity, running: undefined });
    },
  };
}

async function readState(tenant: TenantId, objects: ObjectStore, before: State): Promise<State> {
  const found = await objects.get(bundleIndexKey, before.indexEtag);
  if (found === undefined) return NOTHING;
  const index = found === 'unmodified' ? before.index : bundleIndexSchema.parse(parseJson(found.bytes));
  const indexEtag = found === 'unmodified' ? before.indexEtag : found.etag;
  const names = Object.keys(index.bundles).sort() as BundleId[];
  const held = await Promise.all(
    names.map(async (bundle): Promise<[BundleId, Held | undefined]> => {
      const known = before.bundles.get(bundle);
      const announced = index.bundles[bundle]?.announced ?? 0;
      if (known !== undefined && known.manifest.generation >= announced) return [bundle, known];
      return [bundle, await readManifest(tenant, objects, bundle, known)];
    }),
  );
  // A bundle that is announced but has no manifest yet is not there yet.
  const bundles = new Map(held.filter((pair): pair is [BundleId, Held] => pair[1] !== undefined));
  const same =
    bundles.size === before.bundles.size &&
    [...bundles].every(([name, one]) => before.bundles.get(name) === one);
  return { indexEtag, index, bundles: same ? before.bundles : bundles };
}

async function readManifest(
  tenant: TenantId,
  objects: ObjectStore,
  bundle: BundleId,
  known: Held | undefined,
): Promise<Held | undefined> {
  const found = await objects.get(manifestKey(bundle), known?.etag);
  if (found === 'unmodified') return known;
  if (found === undefined) return undefined;
  const manifest = manifestSchema.parse(parseJson(found.bytes));
  const { revision, digest, mode, skills, findings } = manifest;
  const snapshot = { root: { owner: tenant, bundle }, revision, digest, mode, skills, findings };
  return { manifest, snapshot, etag: found.etag, bytes: found.bytes.length };
}
