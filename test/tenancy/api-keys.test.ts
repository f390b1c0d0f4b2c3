import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { TenantId } from '../../src/core/ids.ts';
import { startLocalTable } from '../../src/local/local-table.ts';
import type { Item, Table } from '../../src/storage/table.ts';
import { issueKey, readKey } from '../../src/tenancy/api-keys.ts';
import { dynamoCredentialStore } from '../../src/tenancy/credential-store.ts';

describe('API keys', () => {
  test('are sb_<id>_<secret>, each another, and read as they were issued', () => {
    const keys = Array.from({ length: 200 }, issueKey);
    for (const { id, key, secretHash } of keys) {
      expect(key).toMatch(/^sb_[a-z0-9]{12}_[A-Za-z0-9-]{43}$/);
      expect(key.split('_')[1]).toBe(id);
      expect(readKey(key)).toEqual({ id, secretHash });
    }
    expect(new Set(keys.map(({ id }) => id)).size).toBe(200);
    expect(new Set(keys.map(({ secretHash }) => secretHash)).size).toBe(200);
  });

  test('are stored as the SHA-256 of the secret', () => {
    const { key, secretHash } = issueKey();
    const secret = key.split('_')[2] ?? '';
    expect(secretHash).toBe(createHash('sha256').update(secret).digest('hex'));
  });

  test('only the hash reaches the table', async () => {
    const local = await startLocalTable();
    const written: [unknown, Item][] = [];
    const watched: Table = {
      ...local.table,
      put(key, item, condition) {
        written.push([key, item]);
        return local.table.put(key, item, condition);
      },
    };
    const credentials = dynamoCredentialStore(watched);
    const { id, key, secretHash } = issueKey();
    const record = {
      id,
      tenant: 'acme' as TenantId,
      scopes: ['catalog:read' as const],
      created_at: 1,
      expires_at: 2,
      revoked_at: 3,
    };
    await credentials.saveKey(secretHash, record);
    expect(await credentials.findKey(secretHash)).toEqual(record);
    expect(await credentials.findKey(secretHash.replace(/^./, 'x'))).toBeUndefined();
    expect(written).toHaveLength(2);
    expect(await credentials.keysOf(record.tenant)).toEqual([record]);
    expect(JSON.stringify(written)).toContain(secretHash);
    expect(JSON.stringify(written)).not.toContain(key.split('_')[2]);
    await local.close();
  });

  test.each([
    ['nothing', ''],
    ['only the prefix', 'sb_'],
    ['another prefix', issueKey().key.replace('sb_', 'sk_')],
    ['capitals in the prefix', issueKey().key.replace('sb_', 'SB_')],
    ['a short secret', issueKey().key.slice(0, -1)],
    ['a long secret', `${issueKey().key}a`],
    ['no id', issueKey().key.replace(/_.{12}_/, '__')],
    ['capitals in the id', issueKey().key.replace(/_.{12}_/, '_ABCDEFGHIJKL_')],
    ['an id with a separator', issueKey().key.replace(/_.{12}_/, '_abc#def_hijk_')],
    ['a line feed at the end', `${issueKey().key}\n`],
    ['a space before', ` ${issueKey().key}`],
    ['other letters', `${issueKey().key.slice(0, -1)}é`],
    ['a NUL', `${issueKey().key.slice(0, -1)}\u0000`],
    ['very much', 'sb_'.repeat(100_000)],
  ])('%s is no key', (_, key) => {
    expect(readKey(key)).toBeUndefined();
  });
});
