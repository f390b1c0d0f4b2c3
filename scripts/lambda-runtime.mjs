// Runs a command that finds Lambda's own runtime client: node scripts/lambda-runtime.mjs COMMAND [ARGUMENT ...]
//
// The client (aws-lambda-ric) and the Node.js that it needs come from npm into a folder of their own outside the
// checkout that is made on the first run, which takes minutes, and kept. The command finds them in
// SKILLBUCKET_TEST_LAMBDA_RUNTIME and SKILLBUCKET_TEST_LAMBDA_NODE.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const CLIENT = 'aws-lambda-ric@4.0.2';
/** The binary of a Node.js release, with the headers that the client's native part is built with. */
const NODE = `node-linux-${process.arch}@24.9.0`;

const [command, ...args] = process.argv.slice(2);
if (command === undefined) fail('Usage: node scripts/lambda-runtime.mjs COMMAND [ARGUMENT ...]');

const { node, client } = prepare();
const running = spawn(command, args, {
  stdio: 'inherit',
  env: { ...process.env, SKILLBUCKET_TEST_LAMBDA_NODE: node, SKILLBUCKET_TEST_LAMBDA_RUNTIME: client },
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => running.kill(signal));
running.once('error', (error) => fail(error.message));
running.once('exit', (code) => (process.exitCode = code ?? 1));

function prepare() {
  if (process.platform !== 'linux') fail("Lambda's runtime client is built on Linux alone.");
  const cache = process.env.XDG_CACHE_HOME || path.join(process.env.HOME || os.tmpdir(), '.cache');
  const folder = path.join(cache, 'skillbucket-ci', 'lambda-runtime');
  const modules = path.join(folder, 'node_modules');
  const release = path.join(modules, NODE.split('@')[0]);
  const paths = {
    node: path.join(release, 'bin', 'node'),
    client: path.join(modules, 'aws-lambda-ric', 'index.mjs'),
  };
  const native = path.join(modules, 'aws-lambda-ric', 'rapid-client.node');
  const stamp = path.join(folder, 'installed');
  const wanted = `${NODE} ${CLIENT}`;
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return paths;

  for (const tool of ['cmake', 'make', 'g++']) {
    if (spawnSync(tool, ['--version']).status !== 0) fail(`Lambda's runtime client is built with ${tool}.`);
  }
  console.log("Installing Lambda's runtime client ...");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const install = ['install', '--prefix', folder, '--no-audit', '--no-fund', '--loglevel=error'];
  for (const [words, env] of [
    [[NODE, '--ignore-scripts'], {}],
    // Built with the release's own headers: node-gyp would ask for them at nodejs.org.
    [
      [CLIENT],
      { PATH: `${path.dirname(paths.node)}:${process.env.PATH ?? ''}`, npm_config_nodedir: release },
    ],
  ]) {
    const { status } = spawnSync('npm', [...install, ...words], {
      stdio: 'inherit',
      env: { ...process.env, ...env },
    });
    if (status !== 0) fail("Lambda's runtime client could not be installed.");
  }
  if (!existsSync(native)) fail("Lambda's runtime client was not built.");
  // Written last, so that a stamp means that all of it is there.
  writeFileSync(stamp, wanted);
  return paths;
}

function fail(message) {
  console.error(message);
  process.exit(2);
}
