#!/usr/bin/env node
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

// The AWS SDK tells on every start that versions of 2027 will need Node 22; ours is pinned and runs on 20.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';

const main = new URL('../dist/cli/main.js', import.meta.url);
if (!existsSync(fileURLToPath(main))) {
  process.stderr.write('Skillbucket is not built yet: run `npm run build` once.\n');
  process.exit(2);
}
await import(main.href);
