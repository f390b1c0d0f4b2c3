// The product in a process of its own, put together and listening as `skillbucket serve` does.
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { Session } from 'node:inspector/promises';
import path from 'node:path';
import { getRequestListener } from '@hono/node-server';
import { composeService } from '../dist/compose.js';
import { readConfig } from '../dist/config.js';
import { bundleId, tenantId } from '../dist/core/ids.js';
import { HOLD_REFUSED_MS } from '../dist/core/limits.js';
import { localPaths, startEmbedded } from '../dist/local/embedded.js';
import { seed } from '../dist/local/seed.js';
import { createLogger } from '../dist/log.js';
import { publishBundle } from '../dist/operations/publish-bundle.js';
import { packageRoot } from '../dist/package-root.js';
import { builtinSource } from '../dist/sources/builtin.js';
import { directoryTree } from '../dist/sources/directory-tree.js';
import { directoryObjectStore } from '../dist/storage/directory.js';
import { dynamoCredentialStore } from '../dist/tenancy/credential-store.js';
import { tenantStore } from '../dist/tenancy/tenant-store.js';
import { memoryTable } from './memory-table.mjs';
import { answerCalls, processorTime } from './processes.mjs';

const inspector = new Session();

answerCalls({
  /** @returns port, the key of the tenant that has the skills, and that of another which has samples */
  async start({ dataDir, skillsDirectory, table, limited = false }) {
    const config = readConfig({
      SKILLBUCKET_DATA_DIR: dataDir,
      // Where one tenant asks as fast as it can, it has limits that it does not reach.
      ...(limited
        ? {}
        : { SKILLBUCKET_REQUESTS_PER_SECOND: '1000000', SKILLBUCKET_LOADS_PER_SECOND: '1000000' }),
    });
    // As shipped: a JSON line for every request.
    const logger = createLogger(config.logLevel);
    const start = table === 'embedded' ? startEmbedded : startInMemory;
    const { app, tenants } = await start(config, logger);
    await publishBundle(
      tenantStore(directoryObjectStore(localPaths(dataDir).bucket), tenantId(tenants[0].id)),
      {
        bundle: bundleId('bench'),
        tree: await directoryTree(skillsDirectory, 'strict'),
        mode: 'strict',
        publishedBy: 'bench',
        now: () => new Date(),
      },
    );
    const listener = getRequestListener(app.fetch);
    const server = createServer((request, response) => void listener(request, response));
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
    return { port: server.address().port, key: tenants[0].api_key, otherKey: tenants[1].api_key };
  },
  processorTime,
  async startProfile() {
    inspector.connect();
    await inspector.post('Profiler.enable');
    await inspector.post('Profiler.setSamplingInterval', { interval: 200 });
    await inspector.post('Profiler.start');
  },
  async stopProfile(file) {
    const { profile } = await inspector.post('Profiler.stop');
    await writeFile(file, JSON.stringify(profile));
    inspector.disconnect();
  },
});

/** What `startEmbedded` does, with a table that costs next to nothing. */
async function startInMemory(config, logger) {
  const paths = localPaths(config.dataDir);
  const table = memoryTable();
  const objects = directoryObjectStore(paths.bucket);
  const { tenants } = await seed({
    objects,
    credentials: dynamoCredentialStore(table),
    samplesDir: path.join(packageRoot(), 'samples'),
    localFile: paths.localFile,
    now: () => new Date(),
  });
  const builtin = await builtinSource(path.join(packageRoot(), 'skills-bundle'));
  return {
    app: composeService({ objects, table, builtin, config, logger, holdRefusedMs: HOLD_REFUSED_MS }),
    tenants,
  };
}
