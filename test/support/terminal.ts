import { run } from '../../src/cli/run.ts';

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs the command in this process, as a pipe would: no colours, no progress. */
export async function skillbucket(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Ran> {
  let out = '';
  let err = '';
  const io = {
    env,
    out: (text: string) => (out += text),
    err: (text: string) => (err += text),
    interactive: false,
    stopped: () => new Promise<void>(() => undefined),
  };
  const code = await run(args, io, '0.0.0-test');
  return { code, out, err };
}
