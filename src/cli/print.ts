import { styleText } from 'node:util';
import type { Finding, Severity } from '../core/errors.ts';
import type { Progress } from '../sources/index-tree.ts';
import type { Config } from '../config.ts';
import type { Io } from './io.ts';
import type { Patience } from './patience.ts';
import { plain } from './plain.ts';

type Style = Parameters<typeof styleText>[0];

export function styled(io: Io, style: Style, text: string): string {
  return io.interactive && !io.env['NO_COLOR'] ? styleText(style, text, { validateStream: false }) : text;
}

const STYLES: Readonly<Record<Severity, Style>> = { error: 'red', warning: 'yellow', info: 'dim' };

/** Findings for a reviewer: severity, place, message, fix. */
export function printFindings(io: Io, findings: readonly Finding[]): void {
  for (const one of findings) {
    const place = [one.file, one.line].filter((part) => part !== undefined).join(':');
    io.err(
      `${styled(io, STYLES[one.severity], one.severity.padEnd(7))} ${plain(place)} ${styled(io, 'dim', plain(one.code))}\n`,
    );
    io.err(`        ${plain(one.message)}\n`);
    if (one.severity !== 'info') io.err(`        fix: ${plain(one.fix)}\n`);
  }
}

export function countOf(number: number, one: string, many = `${one}s`): string {
  return `${number.toLocaleString('en-GB')} ${number === 1 ? one : many}`;
}

/** `3 errors, 1 warning`, or an empty text. */
export function summaryOf(findings: readonly Finding[]): string {
  const of = (severity: Severity) => findings.filter((one) => one.severity === severity).length;
  const parts: [number, string][] = [
    [of('error'), 'error'],
    [of('warning'), 'warning'],
    [of('info'), 'note'],
  ];
  return parts
    .filter(([number]) => number > 0)
    .map(([number, word]) => countOf(number, word))
    .join(', ');
}

/** Bytes for a person. */
export function sizeOf(bytes: number): string {
  return bytes < 1_000_000 ? `${(bytes / 1_000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** Bytes for a person who waits. */
export function megabytes({ done, total }: Progress): string {
  return `${(done / 1_000_000).toFixed(1)}/${(total / 1_000_000).toFixed(1)} MB`;
}

/** A line that is rewritten while a person waits; nothing when nobody watches. */
export function progressLine(
  io: Io,
  what: string,
  told: (progress: Progress) => string = ({ done, total }) => `${done}/${total} files`,
): { update(progress: Progress): void; end(): void } {
  let last = 0;
  let shown = false;
  return {
    update({ done, total }) {
      const now = Date.now();
      if (!io.interactive || (now - last < 100 && done < total)) return;
      last = now;
      shown = true;
      const width = 24;
      const filled = total === 0 ? width : Math.floor((done / total) * width);
      io.err(`\r${what} ${'█'.repeat(filled)}${'░'.repeat(width - filled)} ${told({ done, total })}`);
    },
    end() {
      if (shown) io.err('\r\u001b[K');
    },
  };
}

/** How long this call waits, telling of it on a line of its own. */
export function patienceOf(config: Config, io: Io): Patience {
  return {
    seconds: config.timeoutSeconds,
    note: (text) => {
      io.err(`${io.interactive ? '\r\u001b[K' : ''}${plain(text)}\n`);
    },
  };
}
