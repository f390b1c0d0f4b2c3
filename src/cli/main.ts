import { readFileSync } from 'node:fs';
import path from 'node:path';
import { packageRoot } from '../package-root.ts';
import type { Io } from './io.ts';
import { run } from './run.ts';
import { standardOutput } from './standard-output.ts';

/** Resolves at the first request to stop; the second one ends the process at once. */
function stopped(): Promise<void> {
  return new Promise((resolve) => {
    const stop = () => {
      for (const signal of ['SIGINT', 'SIGTERM'] as const) {
        process.off(signal, stop);
        process.once(signal, () => process.exit(130));
      }
      resolve();
    };
    process.on('SIGINT', stop);
    process.on('SIGTERM', stop);
  });
}

const output = standardOutput(process.stdout, process.stderr);
const io: Io = {
  env: process.env,
  out: output.out,
  err: output.err,
  interactive: process.stderr.isTTY && process.stdout.isTTY,
  stopped,
};
const { version } = JSON.parse(readFileSync(path.join(packageRoot(), 'package.json'), 'utf8')) as {
  version: string;
};
const code = await run(process.argv.slice(2), io, version);
// Asked at the very end: a write may fail after it was taken.
process.once('exit', () => {
  process.exitCode = output.failed ? 2 : code;
});
