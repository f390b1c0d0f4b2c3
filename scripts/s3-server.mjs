// Runs a command beside a real S3-speaking server: node scripts/s3-server.mjs COMMAND [ARGUMENT ...]
//
// The server is LocalStack from PyPI, in a virtual environment of its own outside the checkout that is made on the
// first run and kept. The command finds it in SKILLBUCKET_TEST_S3_ENDPOINT. The server ends with the command.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { clearTimeout, setTimeout } from 'node:timers';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const READY_WITHIN_SECONDS = 180;
const STOP_WITHIN_SECONDS = 20;

const requirements = fileURLToPath(new URL('../.ci/localstack-requirements.txt', import.meta.url));
const [command, ...args] = process.argv.slice(2);
if (command === undefined) fail('Usage: node scripts/s3-server.mjs COMMAND [ARGUMENT ...]');

const python = preparePython();
const scratch = mkdtempSync(path.join(os.tmpdir(), 'skillbucket-s3-'));
let server;
let running;
let stopping = false;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    stopping = true;
    running?.kill(signal);
  });
}

try {
  const endpoint = await start();
  process.exitCode = stopping ? 1 : await run(endpoint);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  await stop();
  rmSync(scratch, { recursive: true, force: true });
}

/** Answers the interpreter of an environment that has just the frozen versions. */
function preparePython() {
  const found = [process.env.PYTHON, 'python3.11', 'python3', 'python'].find((name) => name && is311(name));
  if (found === undefined) fail('LocalStack needs Python 3.11. Install it, or name it in PYTHON.');
  const cache = process.env.XDG_CACHE_HOME || path.join(process.env.HOME || os.tmpdir(), '.cache');
  const folder = path.join(cache, 'skillbucket-ci', 'localstack');
  const interpreter = path.join(folder, process.platform === 'win32' ? 'Scripts/python.exe' : 'bin/python');
  const stamp = path.join(folder, 'installed');
  const wanted = createHash('sha256').update(readFileSync(requirements)).digest('hex');
  const isGood = () =>
    existsSync(stamp) &&
    readFileSync(stamp, 'utf8') === wanted &&
    spawnSync(interpreter, ['-c', 'import localstack.runtime.main']).status === 0;
  if (isGood()) return interpreter;

  console.log('Installing LocalStack ...');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(path.dirname(folder), { recursive: true });
  const pip = [
    '-m',
    'pip',
    'install',
    '--quiet',
    '--disable-pip-version-check',
    '--requirement',
    requirements,
  ];
  for (const [program, ...words] of [
    [found, '-m', 'venv', folder],
    [interpreter, ...pip],
  ]) {
    const { status } = spawnSync(program, words, { stdio: 'inherit' });
    if (status !== 0) fail('LocalStack could not be installed.');
  }
  // Written last, so that a stamp means that all of it is there.
  writeFileSync(stamp, wanted);
  return interpreter;
}

function is311(name) {
  const code = 'import sys; sys.exit(sys.version_info[:2] != (3, 11))';
  return spawnSync(name, ['-c', code]).status === 0;
}

/** Starts the server and waits until it makes a bucket; answers its endpoint. */
async function start() {
  const port = await freePort();
  const endpoint = `http://127.0.0.1:${port}`;
  const log = path.join(scratch, 'server.log');
  const output = openSync(log, 'w');
  server = spawn(python, ['-m', 'localstack.runtime.main'], {
    cwd: scratch,
    stdio: ['ignore', output, output],
    // So that Ctrl-C reaches it by us only, after the command.
    detached: true,
    env: {
      PATH: process.env.PATH,
      HOME: scratch,
      XDG_CACHE_HOME: path.join(scratch, 'cache'),
      FILESYSTEM_ROOT: path.join(scratch, 'ls'),
      OVERRIDE_IN_DOCKER: '0',
      GATEWAY_SERVER: 'hypercorn',
      GATEWAY_LISTEN: `127.0.0.1:${port}`,
      SERVICES: 's3',
      EAGER_SERVICE_LOADING: '1',
      DISABLE_EVENTS: '1',
      SKIP_SSL_CERT_DOWNLOAD: '1',
      DNS_ADDRESS: '0',
    },
  });
  server.ended = new Promise((resolve) => {
    server.once('exit', resolve);
    server.once('error', resolve);
  });
  let hasEnded = false;
  void server.ended.then(() => (hasEnded = true));
  const deadline = performance.now() + READY_WITHIN_SECONDS * 1000;
  while (!stopping && !hasEnded && performance.now() < deadline) {
    if (await isReady(endpoint)) return endpoint;
    await Promise.race([pause(250), server.ended]);
  }
  throw new Error(`LocalStack did not come up. It said:\n${readFileSync(log, 'utf8').slice(-4_000)}`);
}

/** "Running" is said a little early; what counts is that a bucket can be made. */
async function isReady(endpoint) {
  try {
    const health = await (await fetch(`${endpoint}/_localstack/health`)).json();
    if (health.services.s3 !== 'running') return false;
  } catch {
    return false;
  }
  // Loaded here, after what is missing was installed.
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';
  const { CreateBucketCommand, S3Client } = await import('@aws-sdk/client-s3');
  const client = new S3Client({
    endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    forcePathStyle: true,
    maxAttempts: 1,
  });
  try {
    await client.send(new CreateBucketCommand({ Bucket: 'ready' }));
    return true;
  } catch {
    return false;
  } finally {
    client.destroy();
  }
}

async function run(endpoint) {
  running = spawn(command, args, {
    stdio: 'inherit',
    env: { ...process.env, SKILLBUCKET_TEST_S3_ENDPOINT: endpoint },
  });
  return new Promise((resolve, reject) => {
    running.once('error', reject);
    running.once('exit', (code) => resolve(code ?? 1));
  });
}

async function stop() {
  if (server?.pid === undefined) return;
  server.kill('SIGTERM');
  const late = setTimeout(() => server.kill('SIGKILL'), STOP_WITHIN_SECONDS * 1000);
  await server.ended;
  clearTimeout(late);
}

function freePort() {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}

function fail(message) {
  console.error(message);
  process.exit(2);
}
