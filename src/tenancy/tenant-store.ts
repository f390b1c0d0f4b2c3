import { tenantPrefix } from '../core/manifest/object-keys.ts';
import type { TenantId } from '../core/ids.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import type { Transfers } from '../storage/transfers.ts';

/** The part of the bucket that is one tenant's. Whoever holds it cannot name another's objects (D7). */
export function tenantStore(store: ObjectStore, tenant: TenantId): ObjectStore {
  const prefix = tenantPrefix(tenant);
  const own = ownKey(prefix);
  return {
    get: async (key, unless) => store.get(own(key), unless),
    put: async (key, bytes, condition, lifetime) => store.put(own(key), bytes, condition, lifetime),
    size: async (key) => store.size(own(key)),
    async *list(inner) {
      for await (const key of store.list(own(inner))) yield key.slice(prefix.length);
    },
  };
}

/** For what is another's and only lent. */
export function readOnly(store: ObjectStore): ObjectStore {
  return { ...store, put: () => Promise.reject(new TypeError('This part of the bucket is only lent.')) };
}

/** Signed URLs for one tenant's part of the bucket alone. */
export function tenantTransfers(transfers: Transfers, tenant: TenantId): Transfers {
  const own = ownKey(tenantPrefix(tenant));
  return {
    signPut: async (key, content, seconds) => transfers.signPut(own(key), content, seconds),
    signGet: async (key, filename, seconds) => transfers.signGet(own(key), filename, seconds),
  };
}

const ownKey =
  (prefix: string) =>
  (key: string): string => {
    if (key.split('/').includes('..')) throw new TypeError(`Not an object key: ${JSON.stringify(key)}`);
    return prefix + key;
  };
