// Bucket and table for cold starts, in a process of their own: as much of S3 and of DynamoDB as reading takes.
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { crc32 } from 'node:zlib';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { bundleId } from '../dist/core/ids.js';
import { manifestKey, tenantPrefix } from '../dist/core/manifest/object-keys.js';
import { apiKeyKey } from '../dist/core/table-keys.js';
import { publishBundle } from '../dist/operations/publish-bundle.js';
import { memoryTree } from '../dist/sources/skill-tree.js';
import { issueKey } from '../dist/tenancy/api-keys.js';
import { dynamoCredentialStore } from '../dist/tenancy/credential-store.js';
import { newTenantId } from '../dist/tenancy/reserved-tenants.js';
import { tenantStore } from '../dist/tenancy/tenant-store.js';
import { memoryTable } from './memory-table.mjs';
import { answerCalls } from './processes.mjs';
import { makeSkills } from './skills.mjs';

const objects = new Map();
const table = memoryTable();

answerCalls({
  /** Publishes skills for a tenant; answers where they are, the tenant's key, and what the baseline may read. */
  async start({ skills }) {
    const tenant = newTenantId('bench');
    const bundle = bundleId('main');
    const files = makeSkills(skills).flatMap(({ name, files: own }) =>
      own.map(({ path, bytes }) => ({ path: `${name}/${path}`, mode: 0o644, bytes })),
    );
    await publishBundle(tenantStore(memoryStore(), tenant), {
      bundle,
      tree: memoryTree(files),
      mode: 'strict',
      publishedBy: 'bench',
      now: () => new Date(0),
    });
    const credentials = dynamoCredentialStore(table);
    await credentials.createTenant({ id: tenant, name: 'Bench', status: 'active', created_at: 0 });
    const { id, key, secretHash } = issueKey();
    await credentials.saveKey(secretHash, { id, tenant, scopes: ['catalog:read'], created_at: 0 });

    const server = createServer((request, response) => void answer(request, response));
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
    return {
      endpoint: `http://127.0.0.1:${server.address().port}`,
      key,
      item: marshall(apiKeyKey(secretHash)),
      object: tenantPrefix(tenant) + manifestKey(bundle),
    };
  },
});

async function answer(request, response) {
  if (request.method === 'GET') answerObject(request, response);
  else await answerItem(request, response);
}

/** GetObject, as S3 answers it for what its SDK has stored. */
function answerObject(request, response) {
  const [, , ...key] = new URL(request.url, 'http://localhost').pathname.split('/').map(decodeURIComponent);
  const object = objects.get(key.join('/'));
  if (object === undefined) {
    response.writeHead(404, { 'content-type': 'application/xml' });
    response.end('<Error><Code>NoSuchKey</Code><Message>There is none.</Message></Error>');
    return;
  }
  response.writeHead(200, {
    'content-type': 'application/json',
    'content-length': object.bytes.length,
    etag: object.etag,
    'x-amz-checksum-crc32': object.checksum,
    'x-amz-checksum-type': 'FULL_OBJECT',
  });
  response.end(object.bytes);
}

async function answerItem(request, response) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const { Key } = JSON.parse(Buffer.concat(chunks).toString());
  const item = await table.get(unmarshall(Key));
  response.writeHead(200, { 'content-type': 'application/x-amz-json-1.0' });
  response.end(JSON.stringify(item === undefined ? {} : { Item: marshall({ ...item, ...unmarshall(Key) }) }));
}

/** Enough of a bucket to publish into once. */
function memoryStore() {
  return {
    get: async (key) => objects.get(key),
    async put(key, bytes) {
      const checksum = Buffer.alloc(4);
      checksum.writeUInt32BE(crc32(bytes));
      const etag = `"${createHash('md5').update(bytes).digest('hex')}"`;
      objects.set(key, { bytes, etag, checksum: checksum.toString('base64') });
      return { etag };
    },
  };
}
