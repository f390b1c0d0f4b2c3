/** What a command may touch of the process: a command is a function of arguments and this. */
export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>;
  out(text: string): void;
  err(text: string): void;
  /** Whether a person watches; progress and colours are for people. */
  readonly interactive: boolean;
  /** Resolves when the process is asked to stop. */
  stopped(): Promise<void>;
}

export interface Command {
  readonly name: string;
  readonly summary: string;
  /** Shown by `skillbucket help NAME` and on wrong use. */
  readonly help: string;
  run(args: readonly string[], io: Io): Promise<ExitCode>;
}

/** 0 clean, 1 findings or refused, 2 could not run. */
export type ExitCode = 0 | 1 | 2;

/** Wrong use: told with the command's help, exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
