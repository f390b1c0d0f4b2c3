/** What the service says of itself. A logger of pino is one too. */
export interface Logger {
  debug(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
}

/** Names in snake_case as everywhere; `err` is what was thrown. What is undefined is left out. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Takes whole lines. */
export interface LogDestination {
  write(line: string): unknown;
}

const LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LEVELS)[number];

/** Of errors that caused one another. */
const MAX_CAUSES = 5;

/**
 * Structured logs: a JSON object a line, to standard output. No bodies, no headers, no credentials are ever handed to
 * it. Ours because a function starts sooner without a logging library, of which this would be all that it uses.
 */
export function createLogger(level: LogLevel, destination: LogDestination = process.stdout): Logger {
  const at = (own: Exclude<LogLevel, 'silent'>) => (fields: LogFields, message: string) => {
    if (LEVELS.indexOf(own) < LEVELS.indexOf(level)) return;
    const { err, ...others } = fields;
    const thrown = err === undefined ? {} : { err: described(err, MAX_CAUSES) };
    const entry = { level: own, time: new Date().toISOString(), ...others, ...thrown, msg: message };
    destination.write(`${JSON.stringify(entry)}\n`);
  };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

/** What JSON would leave out of an error; of others' own fields those that name a failure at AWS or of the system. */
function described(thrown: unknown, causes: number): unknown {
  if (!(thrown instanceof Error)) return String(thrown);
  const { code, $metadata } = thrown as { readonly code?: unknown; readonly $metadata?: unknown };
  return {
    type: thrown.name,
    message: thrown.message,
    stack: thrown.stack,
    ...(typeof code === 'string' ? { code } : {}),
    // Holds the id that AWS asks for.
    ...($metadata === undefined ? {} : { aws: $metadata }),
    ...(thrown.cause === undefined || causes === 0 ? {} : { cause: described(thrown.cause, causes - 1) }),
  };
}

/** The same lines for a person at a terminal: time, outcome, what, who; problems in full. */
export function terminalLines(write: (text: string) => void): LogDestination {
  return {
    write(line) {
      const entry = JSON.parse(line) as Readonly<Record<string, string | number | undefined>>;
      const text = (name: string) => (entry[name] === undefined ? '' : String(entry[name]));
      const tell = (parts: readonly string[]) => {
        write(`  ${text('time').slice(11, 19)}  ${parts.filter((part) => part !== '').join('  ')}\n`);
      };
      if (entry['msg'] === 'request') {
        const route = text('route') || '(no route)';
        const method = text('method').padEnd(6);
        tell([text('status'), method, route, text('tenant'), text('code'), `${text('ms')} ms`]);
      } else if (entry['msg'] === 'upload') {
        const revision = text('revision') && `revision ${text('revision')}`;
        tell(['upload', text('bundle'), text('tenant'), text('outcome'), revision, text('code')]);
      } else {
        write(`  ${line}`);
      }
    },
  };
}
