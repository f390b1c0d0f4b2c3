// Runs a command beside emulated AWS: node scripts/localstack.mjs COMMAND [ARGUMENT ...]
//
// LocalStack from PyPI (S3, SQS, EventBridge), in a virtual environment of its own outside the checkout that is made on
// the first run and kept, and dynalite for DynamoDB, behind one endpoint. The command finds it in AWS_ENDPOINT_URL,
// and tests that want a server find it in SKILLBUCKET_TEST_S3_ENDPOINT. All of it ends with the command.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { clearTimeout, setTimeout } from 'node:timers';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startGateway } from './emulator-gateway.mjs';

const SERVICES = ['s3', 'sqs', 'events'];
const READY_WITHIN_SECONDS = 180;
/** Nothing of it is kept, so there is nothing to wait for. */
const STOP_WITHIN_SECONDS = 2;

const requirements = fileURLToPath(new URL('../.ci/localstack-requirements.txt', import.meta.url));

/** What an AWS SDK needs to find the emulators, and nothing else: no profile and no other endpoint of the user's. */
export function emulatorEnvironment(endpoint, environment = process.env) {
  const others = Object.entries(environment).filter(
    ([name]) => !/^AWS_(?:ENDPOINT_URL.*|(?:DEFAULT_)?PROFILE|SESSION_TOKEN)$/.test(name),
  );
  return {
    ...Object.fromEntries(others),
    AWS_ENDPOINT_URL: endpoint,
    AWS_REGION: 'us-east-1',
    // LocalStack knows the secret of no other key, and so could not check a presigned URL.
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    SKILLBUCKET_S3_PATH_STYLE: 'true',
  };
}

/**
 * Starts the emulators and waits until they answer. Rejects when they cannot be installed or do not come up, and when
 * the signal comes first.
 */
export async function startLocalStack({ port = 0, signal } = {}) {
  const python = preparePython();
  const scratch = mkdtempSync(path.join(os.tmpdir(), 'skillbucket-localstack-'));
  const stops = [() => rmSync(scratch, { recursive: true, force: true })];
  const stop = async () => {
    for (const one of stops.reverse().splice(0)) await one();
  };
  try {
    const target = await startServer({ python, scratch, stops, signal });
    const gateway = await startGateway({ target, port });
    stops.push(gateway.close);
    return { endpoint: gateway.endpoint, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Answers the interpreter of an environment that has just the frozen versions. */
function preparePython() {
  const wanted = createHash('sha256').update(readFileSync(requirements)).digest('hex');
  const cache = process.env.XDG_CACHE_HOME || path.join(process.env.HOME || os.tmpdir(), '.cache');
  // Named for its content, so that checkouts that want different ones can share the cache.
  const folder = path.join(cache, 'skillbucket-ci', `localstack-${wanted.slice(0, 12)}`);
  const interpreter = path.join(folder, process.platform === 'win32' ? 'Scripts/python.exe' : 'bin/python');
  const stamp = path.join(folder, 'installed');
  const isGood = () =>
    existsSync(stamp) && spawnSync(interpreter, ['-c', 'import localstack.runtime.main']).status === 0;
  if (isGood()) return interpreter;

  const found = [process.env.PYTHON, 'python3.11', 'python3', 'python'].find((name) => name && is311(name));
  if (found === undefined) throw new Error('LocalStack needs Python 3.11. Install it, or name it in PYTHON.');
  console.log(`Installing LocalStack into ${folder} ...`);
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
    if (status !== 0) throw new Error('LocalStack could not be installed.');
  }
  // Written last, so that a stamp means that all of it is there.
  writeFileSync(stamp, '');
  return interpreter;
}

function is311(name) {
  const code = 'import sys; sys.exit(sys.version_info[:2] != (3, 11))';
  return spawnSync(name, ['-c', code]).status === 0;
}

/** Starts LocalStack and waits until it makes a bucket; answers its endpoint. */
async function startServer({ python, scratch, stops, signal }) {
  const port = await freePort();
  const endpoint = `http://127.0.0.1:${port}`;
  const log = path.join(scratch, 'server.log');
  const output = openSync(log, 'w');
  const server = spawn(python, ['-m', 'localstack.runtime.main'], {
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
      SERVICES: SERVICES.join(','),
      EAGER_SERVICE_LOADING: '1',
      // Presigned URLs are refused as S3 refuses them.
      S3_SKIP_SIGNATURE_VALIDATION: '0',
      // URLs of queues by the host that was asked, and not by a name that wants a DNS server.
      SQS_ENDPOINT_STRATEGY: 'dynamic',
      DISABLE_EVENTS: '1',
      SKIP_SSL_CERT_DOWNLOAD: '1',
      DNS_ADDRESS: '0',
    },
  });
  let hasEnded = false;
  const ended = new Promise((resolve) => {
    server.once('exit', resolve);
    server.once('error', resolve);
  }).then(() => (hasEnded = true));
  stops.push(async () => {
    if (server.pid === undefined) return;
    server.kill('SIGTERM');
    const late = setTimeout(() => server.kill('SIGKILL'), STOP_WITHIN_SECONDS * 1000);
    await ended;
    clearTimeout(late);
  });
  const deadline = performance.now() + READY_WITHIN_SECONDS * 1000;
  while (!signal?.aborted && !hasEnded && performance.now() < deadline) {
    if (await isReady(endpoint)) return endpoint;
    await Promise.race([pause(250), ended]);
  }
  if (signal?.aborted) throw new Error('Stopped.');
  throw new Error(`LocalStack did not come up. It said:\n${readFileSync(log, 'utf8').slice(-4_000)}`);
}

/** "Running" is said a little early; what counts is that a bucket can be made. */
async function isReady(endpoint) {
  try {
    const { services } = await (await fetch(`${endpoint}/_localstack/health`)).json();
    if (SERVICES.some((name) => services[name] !== 'running')) return false;
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

/** The command form; answers the exit code. */
async function main([command, ...args]) {
  if (command === undefined) {
    console.error('Usage: node scripts/localstack.mjs COMMAND [ARGUMENT ...]');
    return 2;
  }
  const stopping = new AbortController();
  let running;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      stopping.abort();
      // A terminal sends Ctrl-C to the command as well, and a second one would mean "at once".
      if (signal !== 'SIGINT' || !process.stdin.isTTY) running?.kill(signal);
    });
  }
  const { endpoint, stop } = await startLocalStack({ signal: stopping.signal });
  try {
    if (stopping.signal.aborted) return 1;
    running = spawn(command, args, {
      stdio: 'inherit',
      env: { ...emulatorEnvironment(endpoint), SKILLBUCKET_TEST_S3_ENDPOINT: endpoint },
    });
    return await new Promise((resolve, reject) => {
      running.once('error', reject);
      running.once('exit', (code) => resolve(code ?? 1));
    });
  } finally {
    await stop();
  }
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  try {
    process.exitCode = await main(process.argv.slice(2));
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
