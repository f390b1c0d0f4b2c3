// `npm run dev:localstack`: the service on emulated AWS, found by AWS_ENDPOINT_URL alone, with the sample tenants.
//
// The emulator is AWS_ENDPOINT_URL; else what answers at port 4566, LocalStack's own; else LocalStack from PyPI, which
// is started here and ends with the service. Bucket, table and samples are made unless they are there.
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { emulatorEnvironment, startLocalStack } from './localstack.mjs';

const PORT = 4566;
const USUAL = `http://127.0.0.1:${PORT}`;
const NAME = 'skillbucket-dev';

const { env } = process;
env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';
const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    // Asked twice means at once.
    if (stopping.signal.aborted) process.exit(130);
    stopping.abort();
  });
}

let stopEmulator;
try {
  const endpoint = await findEmulator();
  if (!stopping.signal.aborted) await serve(endpoint);
} catch (error) {
  if (!stopping.signal.aborted) {
    console.error(error.message);
    if (error.cause?.message) console.error(`cause: ${error.cause.message}`);
    process.exitCode = 2;
  }
} finally {
  await stopEmulator?.();
}

/** Answers the endpoint, and sets what the AWS SDK reads besides. */
async function findEmulator() {
  const given = env.AWS_ENDPOINT_URL;
  if (given) {
    if (!(await answers(given))) throw new Error(`Nothing answers at AWS_ENDPOINT_URL, ${given}.`);
    console.log(`Emulated AWS: AWS_ENDPOINT_URL, ${given}`);
    for (const [name, value] of Object.entries(emulatorEnvironment(given))) env[name] ??= value;
    return given;
  }
  if (await answers(USUAL)) {
    console.log(`Emulated AWS: what answers at ${USUAL}`);
  } else {
    console.log(
      `No AWS_ENDPOINT_URL, and nothing answers at ${USUAL}: starting LocalStack from PyPI (10 to 60 s) ...`,
    );
    await startOwn();
  }
  // A profile or an endpoint of the user's own would lead elsewhere.
  const wanted = emulatorEnvironment(USUAL);
  for (const name of Object.keys(env)) if (!(name in wanted)) delete env[name];
  Object.assign(env, wanted);
  return USUAL;
}

async function startOwn() {
  try {
    const { stop } = await startLocalStack({ port: PORT, signal: stopping.signal });
    stopEmulator = stop;
  } catch (error) {
    const docker = `docker run --rm -p ${PORT}:${PORT} localstack/localstack:4.13.1`;
    const fix = `Mend that, or start LocalStack with Docker, and this again:\n  ${docker}`;
    throw new Error(`LocalStack could not be started here. ${fix}`, { cause: error });
  }
}

async function answers(endpoint) {
  try {
    await (await fetch(endpoint, { signal: AbortSignal.timeout(5_000) })).arrayBuffer();
    return true;
  } catch {
    return false;
  }
}

async function serve(endpoint) {
  env.SKILLBUCKET_BUCKET ||= NAME;
  env.SKILLBUCKET_TABLE ||= NAME;
  await createBucket(env.SKILLBUCKET_BUCKET);

  const { readConfig } = await import('../dist/config.js');
  const { serveSamples } = await import('../dist/cli/serve-samples.js');
  const { loggerFor } = await import('../dist/cli/serving.js');
  const { startSamplesOnAws } = await import('../dist/local/samples-on-aws.js');
  const config = readConfig(env);
  const io = {
    env,
    out: (text) => process.stdout.write(text),
    err: (text) => process.stderr.write(text),
    interactive: process.stderr.isTTY === true && process.stdout.isTTY === true,
    stopped: () => stopped,
  };
  const stopped = new Promise((resolve) => {
    if (stopping.signal.aborted) resolve();
    else stopping.signal.addEventListener('abort', resolve);
  });
  mkdirSync(config.dataDir, { recursive: true, mode: 0o700 });
  const localFile = path.resolve(config.dataDir, 'localstack.json');
  const { app, tenants } = await startSamplesOnAws(config, loggerFor(config, io), localFile);
  const deployment = { app, tenants, localFile, isElsewhere: true, close: () => Promise.resolve() };
  await serveSamples(deployment, config, io);
  const kept =
    stopEmulator === undefined
      ? `The emulator at ${endpoint} keeps what it has.`
      : 'LocalStack ends too, and keeps nothing.';
  io.out(`\nStopped. ${kept}\n`);
}

async function createBucket(name) {
  const { BucketAlreadyOwnedByYou, CreateBucketCommand, S3Client } = await import('@aws-sdk/client-s3');
  const client = new S3Client({ forcePathStyle: env.SKILLBUCKET_S3_PATH_STYLE === 'true' });
  try {
    await client.send(new CreateBucketCommand({ Bucket: name }));
  } catch (error) {
    // Of an earlier start.
    if (!(error instanceof BucketAlreadyOwnedByYou)) throw error;
  } finally {
    client.destroy();
  }
}
