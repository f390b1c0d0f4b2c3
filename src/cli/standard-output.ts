import { isSystemError } from '../sources/file-system.ts';

/** Standard output and error of the process, whatever becomes of them. */
export interface StandardOutput {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Whether something could not be written for another reason than that nobody reads any more. */
  readonly failed: boolean;
}

/**
 * Writes for as long as somebody reads: `skillbucket list | head -1` closes our output early, which is no error. The
 * first other failure (a full disk) is told in one line, and the work goes on.
 */
export function standardOutput(stdout: NodeJS.WritableStream, stderr: NodeJS.WritableStream): StandardOutput {
  let failed = false;
  const writer = (stream: NodeJS.WritableStream, told: (error: Error) => void) => {
    let open = true;
    const end = (error: unknown) => {
      if (!isSystemError(error)) throw error;
      if (!open) return;
      open = false;
      if (error.code === 'EPIPE') return;
      failed = true;
      told(error);
    };
    stream.on('error', end);
    return (text: string) => {
      if (!open) return;
      try {
        stream.write(text);
      } catch (error) {
        end(error);
      }
    };
  };
  const err = writer(stderr, () => undefined);
  const out = writer(stdout, (error) => {
    err(`The output cannot be written: ${error.message}\n`);
  });
  return {
    out,
    err,
    get failed() {
      return failed;
    },
  };
}
