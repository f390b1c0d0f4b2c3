// What cdk.json runs. Node 20 cannot run TypeScript, so the app is bundled first, its packages left where they are.
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const outfile = path.join(root, 'build', 'cdk', 'app.mjs');
buildSync({
  entryPoints: [path.join(root, 'cdk', 'app.ts')],
  outfile,
  bundle: true,
  packages: 'external',
  platform: 'node',
  format: 'esm',
  target: 'node20',
  sourcemap: 'inline',
  logLevel: 'warning',
});
const { status } = spawnSync(process.execPath, ['--enable-source-maps', outfile], { stdio: 'inherit' });
process.exit(status ?? 1);
