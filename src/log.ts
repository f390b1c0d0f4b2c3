import type { DestinationStream, Logger } from 'pino';
import { pino } from 'pino';
import type { Config } from './config.ts';

/**
 * Structured logs: a JSON object a line, to standard output. Names in snake_case as everywhere; no bodies, no headers,
 * no credentials are ever handed to it.
 */
export function createLogger(level: Config['logLevel'], destination?: DestinationStream): Logger {
  const options = {
    level,
    base: null,
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  return destination === undefined ? pino(options) : pino(options, destination);
}

/** The same lines for a person at a terminal: time, outcome, what, who; problems in full. */
export function terminalLines(write: (text: string) => void): DestinationStream {
  return {
    write(line) {
      const entry = JSON.parse(line) as Readonly<Record<string, string | number | undefined>>;
      const text = (name: string) => (entry[name] === undefined ? '' : String(entry[name]));
      if (entry['msg'] !== 'request') {
        write(`  ${line}`);
        return;
      }
      const parts = [
        text('status'),
        text('method').padEnd(6),
        text('route') || '(no route)',
        text('tenant'),
        text('code'),
      ];
      write(
        `  ${text('time').slice(11, 19)}  ${parts.filter((part) => part !== '').join('  ')}  ${text('ms')} ms\n`,
      );
    },
  };
}
