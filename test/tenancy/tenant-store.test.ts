import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { tenantId } from '../../src/core/ids.ts';
import { directoryObjectStore } from '../../src/storage/directory.ts';
import type { ObjectStore } from '../../src/storage/object-store.ts';
import { newTenantId } from '../../src/tenancy/reserved-tenants.ts';
import { tenantStore } from '../../src/tenancy/tenant-store.ts';
import { memoryObjectStore } from '../storage/memory-store.ts';
import { objectStoreContract } from '../storage/object-store-suite.ts';

// A tenant's part of a bucket is a whole object store, whatever others keep in the bucket.
objectStoreContract("a tenant's store", async () => {
  const bucket = memoryObjectStore();
  for (const tenant of ['acm', 'acme-2', 'globex']) {
    await tenantStore(bucket, tenantId(tenant)).put('key', bytes(`of ${tenant}`), 'absent');
  }
  return tenantStore(bucket, tenantId('acme'));
});

describe.each([
  ['memory', () => Promise.resolve(memoryObjectStore())],
  ['a directory', async () => directoryObjectStore(await mkdtemp(path.join(parent, 'bucket-')))],
] satisfies [string, () => Promise<ObjectStore>][])('tenants of one bucket in %s', (_, newBucket) => {
  const TENANTS = ['acme', 'acme-2', 'acm', 'a', 'tenants'].map(tenantId);

  test('keep the same keys apart', async () => {
    const bucket = await newBucket();
    const stores = TENANTS.map((tenant) => tenantStore(bucket, tenant));
    for (const [index, store] of stores.entries()) {
      expect(await store.put('bundles/index.json', bytes(`of ${index}`), 'absent')).not.toBe('stale');
    }
    for (const [index, store] of stores.entries()) {
      expect(await textOf(store, 'bundles/index.json')).toBe(`of ${index}`);
      expect(await keysOf(store, '')).toEqual(['bundles/index.json']);
      expect(await keysOf(store, 'bundles/')).toEqual(['bundles/index.json']);
    }
    expect((await keysOf(bucket, '')).sort()).toEqual(
      TENANTS.map((tenant) => `tenants/${tenant}/bundles/index.json`).sort(),
    );
  });

  test("'s ETags open nothing of each other", async () => {
    const bucket = await newBucket();
    const [acme, other] = [tenantStore(bucket, tenantId('acme')), tenantStore(bucket, tenantId('acme-2'))];
    const outcome = await acme.put('key', bytes('mine'), 'absent');
    if (outcome === 'stale') throw new Error('The put was stale.');
    expect(await other.put('key', bytes('theirs'), { matches: outcome.etag })).toBe('stale');
    expect(await other.get('key', outcome.etag)).toBeUndefined();
    expect(await textOf(acme, 'key')).toBe('mine');
  });

  test.each(['../acme/key', '..', 'a/../../acme/key', '../../tenants/acme/key', 'a/..', '../acme/'])(
    'cannot name each other by %j',
    async (key) => {
      const bucket = await newBucket();
      await tenantStore(bucket, tenantId('acme')).put('key', bytes('secret'), 'absent');
      const store = tenantStore(bucket, tenantId('globex'));
      await expect(store.get(key)).rejects.toThrow(TypeError);
      await expect(store.put(key, bytes('x'), 'absent')).rejects.toThrow(TypeError);
      await expect(keysOf(store, key)).rejects.toThrow(TypeError);
    },
  );

  test.each([
    '/tenants/acme/key',
    'tenants/acme/key',
    '..\\acme\\key',
    '%2e%2e/acme/key',
    '.../acme/key',
    './key',
  ])('reach nothing of each other by %j', async (key) => {
    const bucket = await newBucket();
    const acme = tenantStore(bucket, tenantId('acme'));
    await acme.put('key', bytes('secret'), 'absent');
    const store = tenantStore(bucket, tenantId('globex'));
    // A key that a store refuses as malformed is as good as one that is absent.
    expect(await store.get(key).catch(() => undefined)).toBeUndefined();
    await store.put(key, bytes('x'), 'absent').catch(() => undefined);
    expect(await keysOf(acme, '')).toEqual(['key']);
    expect(await textOf(acme, 'key')).toBe('secret');
    expect(await keysOf(store, key)).not.toContain('key');
  });
});

describe('tenant ids', () => {
  test.each(['', 'a/b', '..', 'a.b', 'A', 'a--b', '-a', 'a_b', 'a#b', 'ä', 'a'.repeat(65), 'a\n'])(
    '%j is none, so that no id can name a part of another',
    (value) => {
      expect(() => newTenantId(value)).toThrow(expect.objectContaining({ code: 'invalid_request' }) as Error);
    },
  );
  test.each(['builtin', 'shared'])('%s is an owner of ours, and no tenant', (value) => {
    expect(() => newTenantId(value)).toThrow(expect.objectContaining({ code: 'invalid_request' }) as Error);
  });
});

let parent = '';
beforeAll(async () => {
  parent = await mkdtemp(path.join(os.tmpdir(), 'skillbucket-tenants-'));
});
afterAll(async () => {
  await rm(parent, { recursive: true, force: true });
});

async function keysOf(store: ObjectStore, prefix: string): Promise<string[]> {
  const keys: string[] = [];
  for await (const key of store.list(prefix)) keys.push(key);
  return keys;
}

async function textOf(store: ObjectStore, key: string): Promise<string> {
  const found = await store.get(key);
  if (found === undefined || found === 'unmodified') throw new Error(`${key} is absent.`);
  return Buffer.from(found.bytes).toString('utf8');
}

const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'utf8'));
