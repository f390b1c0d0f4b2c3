import { tenantPrefix } from '../core/manifest/object-keys.ts';
import type { TenantId } from '../core/ids.ts';
import type { ObjectStore } from '../storage/object-store.ts';

/** The part of the bucket that is one tenant's. Whoever holds it cannot name another's objects (D7). */
export function tenantStore(store: ObjectStore, tenant: TenantId): ObjectStore {
  const prefix = tenantPrefix(tenant);
  const own = (key: string): string => {
    if (key.split('/').includes('..')) throw new TypeError(`Not an object key: ${JSON.stringify(key)}`);
    return prefix + key;
  };
  return {
    get: async (key, unless) => store.get(own(key), unless),
    put: async (key, bytes, condition) => store.put(own(key), bytes, condition),
    async *list(inner) {
      for await (const key of store.list(own(inner))) yield key.slice(prefix.length);
    },
  };
}
