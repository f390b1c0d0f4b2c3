import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sessionId, skillName, tenantId } from '../../src/core/ids.ts';
import { activationKey } from '../../src/core/table-keys.ts';
import type { LocalTable } from '../../src/local/local-table.ts';
import { startLocalTable } from '../../src/local/local-table.ts';
import { dynamoActivationStore } from '../../src/sessions/dynamodb.ts';
import type { Table } from '../../src/storage/table.ts';
import { activationStoreContract } from './activation-store-suite.ts';

let local: LocalTable;
beforeAll(async () => {
  local = await startLocalTable();
});
afterAll(async () => {
  await local.close();
});

let places = 0;
activationStoreContract('DynamoDB', () => {
  // One table for all: a place is a range of tenants in it.
  const place = (places += 1);
  let now = 0;
  return {
    storeOf: (tenant) => dynamoActivationStore(local.table, tenantId(`${tenant}-${place}`), () => now),
    setNow(seconds) {
      now = seconds;
    },
  };
});

describe('DynamoDB: what stands in the table', () => {
  const tenant = tenantId('items');
  const session = sessionId('s');
  const skill = skillName('report');

  test('an item that is no activation is an incident, and not absent', async () => {
    const store = dynamoActivationStore(local.table, tenant, () => 0);
    await local.table.put(activationKey(tenant, session, skill), {
      expires_at: 10,
      activated_at: '2026-01-01T00:00:00.000Z',
      document: '{"session_id":"s"}',
    });
    await expect(store.find(session, skill)).rejects.toThrow();
    await expect(store.list(session)).rejects.toThrow();
    // Releasing needs no understanding.
    await store.release(session);
    expect(await store.find(session, skill)).toBeUndefined();
  });

  test('an item that is gone each time one looks is contention, answered as unavailable', async () => {
    let puts = 0;
    const restless: Table = {
      ...local.table,
      put: () => {
        puts += 1;
        return Promise.resolve({ found: undefined });
      },
    };
    const store = dynamoActivationStore(restless, tenant, () => 0);
    await expect(store.begin({ session_id: session, skill } as never)).rejects.toMatchObject({
      code: 'unavailable',
    });
    expect(puts).toBe(5);
  });
});
