import { randomUUID } from 'node:crypto';
import os from 'node:os';
import path from 'node:path';
import { run } from '../../src/cli/run.ts';

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Never the deployment of whoever runs the tests, which has data in the working directory after `npm start`. */
const NO_DATA = path.join(os.tmpdir(), `skillbucket-none-${randomUUID()}`);

/** Runs the command in this process, as a pipe would: no colours, no progress. */
export async function skillbucket(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Ran> {
  let out = '';
  let err = '';
  const io = {
    env: { SKILLBUCKET_DATA_DIR: NO_DATA, ...env },
    out: (text: string) => (out += text),
    err: (text: string) => (err += text),
    interactive: false,
    stopped: () => new Promise<void>(() => undefined),
  };
  const code = await run(args, io, '0.0.0-test');
  return { code, out, err };
}
