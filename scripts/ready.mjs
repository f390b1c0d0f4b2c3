// Makes a checkout ready: installs what is missing, and with --build builds what is out of date. Plain Node, because
// nothing is installed yet when it runs.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const inRoot = (...parts) => path.join(root, ...parts);

const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(`Skillbucket needs Node 20.19 or newer; this is ${process.version}.`);
  process.exit(2);
}

function run(command, args) {
  const result = spawnSync(command, args, {
    cwd: root,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  if (result.status !== 0) process.exit(result.status ?? 2);
}

const lock = createHash('sha256')
  .update(readFileSync(inRoot('package-lock.json')))
  .digest('hex');
const stamp = inRoot('node_modules', '.skillbucket-lock');
if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== lock) {
  console.log('Installing dependencies ...');
  run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error']);
  writeFileSync(stamp, lock);
}

function newest(directory) {
  let latest = 0;
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const full = path.join(directory, entry.name);
    latest = Math.max(latest, entry.isDirectory() ? newest(full) : statSync(full).mtimeMs);
  }
  return latest;
}

if (process.argv.includes('--build')) {
  const built = inRoot('dist', '.built');
  const sources = Math.max(
    newest(inRoot('src')),
    ...['tsconfig.json', 'tsconfig.build.json', 'package-lock.json'].map(
      (file) => statSync(inRoot(file)).mtimeMs,
    ),
  );
  if (!existsSync(built) || statSync(built).mtimeMs < sources) {
    console.log('Building ...');
    run(process.execPath, [
      inRoot('node_modules', 'typescript', 'bin', 'tsc'),
      '-p',
      inRoot('tsconfig.build.json'),
    ]);
    writeFileSync(built, '');
  }
}
