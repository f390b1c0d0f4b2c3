import { SettingError } from '../config.ts';
import type { ErrorKind } from '../core/errors.ts';
import { SkillError } from '../core/errors.ts';
import { indexCommand } from './commands/index-folder.ts';
import { keysCommand } from './commands/keys.ts';
import { listCommand } from './commands/list.ts';
import { publishCommand } from './commands/publish.ts';
import { serveCommand } from './commands/serve.ts';
import { showCommand } from './commands/show.ts';
import { tenantsCommand } from './commands/tenants.ts';
import { validateCommand } from './commands/validate.ts';
import type { Command, ExitCode, Io } from './io.ts';
import { UsageError } from './io.ts';
import { isSystemError } from '../sources/file-system.ts';
import { jsonText, plain, plainLines } from './plain.ts';
import { printFindings, styled } from './print.ts';
import { redactor } from './redact.ts';

const COMMANDS: readonly Command[] = [
  listCommand,
  showCommand,
  validateCommand,
  indexCommand,
  publishCommand,
  serveCommand,
  tenantsCommand,
  keysCommand,
];

/** Kinds to exit codes, in one place: refused is 1, could not run is 2. */
const EXIT: Readonly<Record<ErrorKind, ExitCode>> = {
  malformed: 1,
  invalid: 1,
  unauthenticated: 1,
  forbidden: 1,
  not_found: 1,
  conflict: 1,
  precondition: 1,
  range: 1,
  method: 1,
  too_large: 1,
  limited: 2,
  unavailable: 2,
  internal: 2,
};

/** The command line as a function of arguments and a terminal. */
export async function run(argv: readonly string[], terminal: Io, version: string): Promise<ExitCode> {
  const [name, ...args] = argv;
  const redact = redactor(argv, terminal.env);
  const io: Io = {
    ...terminal,
    err: (text) => {
      terminal.err(redact(text));
    },
  };
  if (name === undefined || name === '--help' || name === '-h') {
    io.out(overview(io));
    return 0;
  }
  if (name === '--version' || name === '-v') {
    io.out(`${version}\n`);
    return 0;
  }
  if (name === 'help') return help(args[0], io);
  const command = COMMANDS.find((one) => one.name === name);
  if (command === undefined) return unknown(name, io);
  if (args.includes('--help') || args.includes('-h')) return help(name, io);
  try {
    return await command.run(args, io);
  } catch (error) {
    return explain(error, command, args, {
      ...io,
      out: (text) => {
        io.out(redact(text));
      },
    });
  }
}

function explain(error: unknown, command: Command, args: readonly string[], io: Io): ExitCode {
  if (error instanceof UsageError) {
    io.err(`${styled(io, 'red', plain(error.message))}\n\n${command.help}\n`);
    return 2;
  }
  if (error instanceof SettingError) {
    io.err(`${styled(io, 'red', plain(error.message))}\n`);
    return 2;
  }
  if (error instanceof SkillError) {
    if (args.includes('--json')) {
      const { code, message, findings, fix } = error;
      io.out(jsonText({ outcome: 'refused', code, detail: message, fix, findings }));
    }
    printFindings(io, error.findings);
    io.err(`${styled(io, 'red', 'Refused')} (${error.code}): ${plain(error.message)}\n`);
    if (error.findings.length === 0) io.err(`fix: ${error.fix}\n`);
    if (error.cause instanceof Error)
      io.err(`${styled(io, 'dim', `cause: ${plain(causeOf(error.cause))}`)}\n`);
    return EXIT[error.kind];
  }
  io.err(
    `${styled(io, 'red', 'Something went wrong')}: ${plainLines(error instanceof Error ? (error.stack ?? error.message) : String(error))}\n`,
  );
  return 2;
}

/** node's error for a host with several addresses, none of which answered, has a code and no message. */
function causeOf(cause: Error): string {
  return cause.message === '' && isSystemError(cause) ? cause.code : cause.message;
}

function help(name: string | undefined, io: Io): ExitCode {
  if (name === undefined) {
    io.out(overview(io));
    return 0;
  }
  const command = COMMANDS.find((one) => one.name === name);
  if (command === undefined) return unknown(name, io);
  io.out(`${command.help}\n`);
  return 0;
}

function unknown(name: string, io: Io): ExitCode {
  const near = COMMANDS.find((one) => one.name.startsWith(name.slice(0, 2)));
  const hint = near === undefined ? '' : ` Did you mean \`skillbucket ${near.name}\`?`;
  io.err(`There is no command ${plain(JSON.stringify(name))}.${hint}\nSee \`skillbucket help\`.\n`);
  return 2;
}

function overview(io: Io): string {
  const rows = COMMANDS.map((one) => `  ${styled(io, 'bold', one.name.padEnd(10))}${one.summary}\n`).join('');
  return `Skillbucket serves Agent Skills to the AI agents of many tenants, from a bucket.

Usage: skillbucket COMMAND [ARGUMENTS]

${rows}
  help COMMAND tells more, with an example. --version prints the version.

Exit codes: 0 clean, 1 findings or refused, 2 could not run.
`;
}
