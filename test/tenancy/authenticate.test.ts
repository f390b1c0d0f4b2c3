import { beforeEach, describe, expect, test } from 'vitest';
import { SkillError } from '../../src/core/errors.ts';
import { tenantId } from '../../src/core/ids.ts';
import { issueKey } from '../../src/tenancy/api-keys.ts';
import { apiKeyAuthenticator } from '../../src/tenancy/authenticate.ts';
import type { Principal } from '../../src/tenancy/authenticate.ts';
import type { ApiKey, TenantRecord } from '../../src/tenancy/credential-store.ts';
import { tenantDirectory } from '../../src/tenancy/tenant-registry.ts';
import { whoAsks } from '../../src/tenancy/who-asks.ts';

type Authenticate = (authorization: string | undefined) => Promise<Principal>;

const FRESHNESS_SECONDS = 5;
const START = 1_800_000_000;

/** The table behind the authenticator, and how often it was asked. */
let keys: Map<string, ApiKey>;
let tenants: Map<string, TenantRecord>;
let asked: number;
let down: boolean;
let nowMs: number;
let authenticate: Authenticate;

beforeEach(() => {
  keys = new Map();
  tenants = new Map();
  asked = 0;
  down = false;
  nowMs = START * 1000;
  authenticate = newProcess();
  setTenant('acme');
});

function newProcess(freshnessSeconds = FRESHNESS_SECONDS): Authenticate {
  const clock = { freshnessSeconds, nowMs: () => nowMs };
  const credentials = {
    findKey(secretHash: string) {
      asked += 1;
      return down ? Promise.reject(new SkillError('unavailable')) : Promise.resolve(keys.get(secretHash));
    },
    keyUsed(secretHash: string, at: number) {
      if (down) return Promise.reject(new SkillError('unavailable'));
      const key = keys.get(secretHash);
      if (key !== undefined) keys.set(secretHash, { ...key, last_used_at: at });
      return Promise.resolve();
    },
  };
  const registry = {
    read(tenant: string) {
      const record = tenants.get(tenant);
      return Promise.resolve(
        record && { record, policy: undefined, grants: new Map<never, never>(), limits: undefined },
      );
    },
  };
  const asks = whoAsks({
    authenticate: apiKeyAuthenticator(credentials, clock),
    tenants: tenantDirectory(registry, clock),
  });
  return async (authorization) => (await asks(authorization)).principal;
}

function setTenant(id: string, status: TenantRecord['status'] = 'active'): void {
  tenants.set(id, { id: tenantId(id), name: id, status, created_at: START });
}

interface Issued {
  readonly header: string;
  readonly id: string;
  change(changes: Partial<ApiKey>): void;
  remove(): void;
}

function issue(tenant = 'acme', changes: Partial<ApiKey> = {}): Issued {
  const { id, key, secretHash } = issueKey();
  const record: ApiKey = {
    id,
    tenant: tenantId(tenant),
    scopes: ['catalog:read'],
    created_at: START,
    ...changes,
  };
  keys.set(secretHash, record);
  return {
    header: `Bearer ${key}`,
    id,
    change: (changed) => keys.set(secretHash, { ...record, ...changed }),
    remove: () => keys.delete(secretHash),
  };
}

const pass = (seconds: number): void => {
  nowMs += seconds * 1000;
};
const refused = expect.objectContaining({ code: 'unauthenticated', kind: 'unauthenticated' }) as unknown;

describe('who a key says one is', () => {
  test('tenant, key id and scopes, as issued', async () => {
    const { header, id } = issue('acme', { scopes: ['skills:load', 'admin'] });
    expect(await authenticate(header)).toEqual({ tenant: 'acme', id, scopes: ['skills:load', 'admin'] });
  });

  test('the scheme is case-insensitive and may be followed by several spaces (RFC 9110, 11.1)', async () => {
    const { header } = issue();
    const key = header.slice('Bearer '.length);
    for (const form of [`bearer ${key}`, `BEARER ${key}`, `Bearer   ${key}`, `Bearer ${key} `]) {
      expect(await authenticate(form)).toMatchObject({ tenant: 'acme' });
    }
  });

  test('two tenants in one process are never taken for each other', async () => {
    setTenant('globex');
    const [acme, globex] = [issue('acme'), issue('globex')];
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, index) => authenticate(index % 2 === 0 ? acme.header : globex.header)),
    );
    expect(answers.map((answer) => answer.tenant)).toEqual(
      Array.from({ length: 40 }, (_, index) => (index % 2 === 0 ? 'acme' : 'globex')),
    );
  });

  test("a secret under another key's id is refused, also when both are known", async () => {
    const [one, other] = [issue(), issue()];
    await authenticate(one.header);
    await authenticate(other.header);
    const mixed = one.header.replace(one.id, other.id);
    await expect(authenticate(mixed)).rejects.toEqual(refused);
    await expect(authenticate(one.header.replace(one.id, 'abcdefghijkl'))).rejects.toEqual(refused);
  });
});

describe('what is no credential is refused, and the table is not asked', () => {
  test.each([
    ['no header', undefined],
    ['an empty header', ''],
    ['no scheme', issueKey().key],
    ['only a scheme', 'Bearer'],
    ['a scheme and spaces', 'Bearer    '],
    ['another scheme', `Basic ${issueKey().key}`],
    ['a scheme that only begins so', `Bearers ${issueKey().key}`],
    ['no space', `Bearer${issueKey().key}`],
    ['a tab', `Bearer\t${issueKey().key}`],
    ['a space before', ` Bearer ${issueKey().key}`],
    ['two keys', `Bearer ${issueKey().key} ${issueKey().key}`],
    ['two headers joined', `Bearer ${issueKey().key}, Bearer ${issueKey().key}`],
    ['a key in quotes', `Bearer "${issueKey().key}"`],
    ['a JWT', 'Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJhY21lIn0.'],
    ['a prefix of a key', `Bearer ${issueKey().key.slice(0, 30)}`],
    ['control characters', `Bearer ${issueKey().key}\u0000`],
    ['a header without end', `Bearer ${'a '.repeat(50_000)}`],
    ['__proto__', 'Bearer __proto__'],
  ])('%s', async (_, header) => {
    await expect(authenticate(header)).rejects.toEqual(refused);
    expect(asked).toBe(0);
  });

  test('a well-formed key that was never issued is refused, each time anew', async () => {
    const header = `Bearer ${issueKey().key}`;
    await expect(authenticate(header)).rejects.toEqual(refused);
    await expect(authenticate(header)).rejects.toEqual(refused);
    expect(asked).toBe(2);
  });
});

describe('the freshness window', () => {
  test('a good key is asked about once in the window', async () => {
    const { header } = issue();
    await authenticate(header);
    pass(FRESHNESS_SECONDS - 0.001);
    await authenticate(header);
    expect(asked).toBe(1);
    pass(0.001);
    await authenticate(header);
    expect(asked).toBe(2);
    pass(FRESHNESS_SECONDS - 0.001);
    await authenticate(header);
    expect(asked).toBe(2);
  });

  test.each<[string, (issued: Issued) => void]>([
    [
      'a revoked key',
      (issued) => {
        issued.change({ revoked_at: START });
      },
    ],
    [
      'a removed key',
      (issued) => {
        issued.remove();
      },
    ],
    [
      'a tenant that is being deleted',
      () => {
        setTenant('acme', 'deleting');
      },
    ],
    ['a removed tenant', () => tenants.delete('acme')],
  ])('%s is refused from the end of the window at the latest, and at once elsewhere', async (_, change) => {
    const issued = issue();
    await authenticate(issued.header);
    change(issued);
    // What is promised to a caller is the end of the window; within it, nothing but the key itself is.
    await expect(newProcess()(issued.header)).rejects.toEqual(refused);
    pass(FRESHNESS_SECONDS);
    await expect(authenticate(issued.header)).rejects.toEqual(refused);
    await expect(authenticate(issued.header)).rejects.toEqual(refused);
  });

  test('a suspended tenant is told so, from the end of the window at the latest', async () => {
    const { header } = issue();
    await authenticate(header);
    setTenant('acme', 'suspended');
    pass(FRESHNESS_SECONDS);
    await expect(authenticate(header)).rejects.toMatchObject({
      code: 'forbidden',
      message: 'This tenant is suspended.',
    });
    await expect(newProcess()(header)).rejects.toMatchObject({ code: 'forbidden' });
  });

  test('narrower scopes hold from the end of the window', async () => {
    const issued = issue('acme', { scopes: ['catalog:read', 'bundles:write'] });
    await authenticate(issued.header);
    issued.change({ scopes: ['catalog:read'] });
    pass(FRESHNESS_SECONDS);
    expect((await authenticate(issued.header)).scopes).toEqual(['catalog:read']);
  });

  test('a tenant that is active again is served at once: refusals are not remembered', async () => {
    setTenant('acme', 'suspended');
    const issued = issue();
    await expect(authenticate(issued.header)).rejects.toMatchObject({ code: 'forbidden' });
    setTenant('acme');
    expect(await authenticate(issued.header)).toMatchObject({ tenant: 'acme' });
  });

  test('a key expires at its second, in the window too', async () => {
    const { header } = issue('acme', { expires_at: START + 3 });
    pass(2.999);
    await authenticate(header);
    pass(0.001);
    await expect(authenticate(header)).rejects.toEqual(refused);
    await expect(newProcess()(header)).rejects.toEqual(refused);
  });

  test('a window of 0 asks each time', async () => {
    const always = newProcess(0);
    const { header } = issue();
    await always(header);
    await always(header);
    expect(asked).toBe(2);
  });

  test('a table that cannot answer is unavailable, and not a refusal', async () => {
    const { header } = issue();
    await authenticate(header);
    down = true;
    expect(await authenticate(header)).toMatchObject({ tenant: 'acme' });
    pass(FRESHNESS_SECONDS);
    await expect(authenticate(header)).rejects.toMatchObject({ code: 'unavailable' });
    await expect(authenticate(issue().header)).rejects.toMatchObject({ code: 'unavailable' });
    down = false;
    expect(await authenticate(header)).toMatchObject({ tenant: 'acme' });
  });
});
