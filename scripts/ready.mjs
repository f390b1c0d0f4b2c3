// Makes a checkout ready: installs what is missing, and with --build builds what is out of date. Plain Node, because
// nothing is installed yet when it runs.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
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

// npm writes its own record last, so one that is newer than the lockfile means that all of it is there.
const record = inRoot('node_modules', '.package-lock.json');
const modified = (file) => (existsSync(file) ? statSync(file).mtimeMs : 0);
if (modified(record) < modified(inRoot('package-lock.json'))) {
  console.log('Installing dependencies ...');
  run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error']);
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
  const inputs = ['tsconfig.json', 'tsconfig.build.json', 'package-lock.json'];
  const changed = Math.max(newest(inRoot('src')), ...inputs.map((file) => modified(inRoot(file))));
  if (modified(built) < changed) {
    console.log('Building ...');
    // What is deleted in src must not live on in dist.
    rmSync(inRoot('dist'), { recursive: true, force: true });
    run(process.execPath, [
      inRoot('node_modules', 'typescript', 'bin', 'tsc'),
      '-p',
      inRoot('tsconfig.build.json'),
    ]);
    writeFileSync(built, '');
  }
}
