// What cdk.json runs. Node 20 cannot run TypeScript, so the app is bundled first, its packages left where they are.
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
// Two may run at once; and it lies inside the package, where its packages are found.
const outfile = path.join(root, 'build', 'cdk', `app-${process.pid}.mjs`);
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
rmSync(outfile);
process.exit(status ?? 1);
