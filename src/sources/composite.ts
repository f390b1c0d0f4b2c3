import { LRUCache } from 'lru-cache';
import type { Catalog, CatalogRules, RootSnapshot } from '../core/catalog/catalog.ts';
import { composeCatalog } from '../core/catalog/catalog.ts';
import type { Finding } from '../core/errors.ts';
import type { SkillSource } from './source.ts';

/** Composed catalogs, by who sees which roots under which rules; composed again only when a root is another object. */
export interface CatalogCache {
  catalog(
    key: string,
    sources: readonly SkillSource[],
    rules: CatalogRules,
    rejected: readonly Finding[],
  ): Promise<Catalog>;
}

export function catalogCache(): CatalogCache {
  const known = new LRUCache<
    string,
    { readonly snapshots: readonly RootSnapshot[]; readonly catalog: Catalog }
  >({
    // Composed catalogs share their entries with the manifests, so their number is what matters.
    max: 1_000,
  });
  return {
    async catalog(key, sources, rules, rejected) {
      const found = await Promise.all(sources.map((source) => source.discover()));
      const snapshots = found.filter((one) => one !== undefined);
      const held = known.get(key);
      if (held !== undefined && sameList(held.snapshots, snapshots)) return held.catalog;
      const catalog = composeCatalog(snapshots, rules, rejected);
      known.set(key, { snapshots, catalog });
      return catalog;
    },
  };
}

function sameList(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((one, index) => one === b[index]);
}
