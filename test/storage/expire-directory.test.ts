import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { lifetimeOf } from '../../src/core/manifest/object-keys.ts';
import { directoryObjectStore } from '../../src/storage/directory.ts';
import { expireDirectory } from '../../src/storage/expire-directory.ts';

test('[D5] uploads and their records expire in the embedded bucket too, and nothing else does', async () => {
  const root = await mkdtemp(path.join(os.tmpdir(), 'skillbucket-expire-'));
  try {
    const store = directoryObjectStore(root);
    const archive = 'tenants/acme/uploads/main/0123456789abcdef0123456789abcdef';
    const record = 'tenants/acme/upload-records/main/0123456789abcdef0123456789abcdef/begun.json';
    const kept = [
      'tenants/acme/bundles/uploads/manifest.json',
      'tenants/acme/files/abc',
      'tenants/uploads/files/abc',
      'uploads/x',
    ];
    for (const key of [archive, record, ...kept]) await store.put(key, Buffer.from(key), 'absent');
    const after = async (days: number) => {
      await expireDirectory(root, lifetimeOf, new Date(Date.now() + days * 24 * 60 * 60 * 1000));
      const keys: string[] = [];
      for await (const key of store.list('')) keys.push(key);
      return keys.sort();
    };
    expect(await after(1)).toEqual([archive, record, ...kept].sort());
    expect(await after(3)).toEqual([record, ...kept].sort());
    expect(await after(31)).toEqual([...kept].sort());
    expect(await expireDirectory(path.join(root, 'missing'), lifetimeOf, new Date())).toBe(0);
  } finally {
    await rm(root, { recursive: true, force: true });
  }
});
