import type { Finding } from '../errors.ts';
import { finding } from '../errors.ts';
import type { BlockPlace } from './yaml-fields.ts';
import { isTooStructured, readYamlFields } from './yaml-fields.ts';

/** A top-level `key: value` line with an unquoted value; block scalars and quoted values need no repair. */
const ENTRY = /^([A-Za-z0-9_][A-Za-z0-9_.-]*):[ \t]+([^\s|>"'#].*?)[ \t\r]*$/;
/** A whole value that is an anchor or alias: repairing it into text would hide what it is. */
const ANCHOR = /^(?:&[\w-]+(?:\s|$)|\*[\w-]+\s*$)/;
/** Fields of which a list or mapping, read as text, would become something else. */
const STRUCTURED = new Set(['allowed-tools', 'metadata']);
/** An indented line that is meant as a field of its own: as part of the text above, what it restricts would be lost. */
const FIELD_INSIDE = /^[ \t]+(?:name|description|license|compatibility|metadata|allowed-tools)[ \t]*:/i;
/** Real frontmatter has a handful; each one is parsed by itself. */
const MAX_ENTRIES = 1_000;

export interface Repaired {
  readonly block: string;
  readonly findings: readonly Finding[];
}

/**
 * Lenient mode only: quotes each top-level value that YAML cannot read as one value by itself (`Use when: …`,
 * `[mode] - fast`, `!important …`), leaves every other line alone, and keeps the number of lines so that findings
 * still name the right one. Undefined when nothing needed it.
 */
export function quoteUnreadableValues(block: string, place: BlockPlace): Repaired | undefined {
  if (isTooStructured(block)) return undefined;
  const entries = groupEntries(block);
  if (entries.length > MAX_ENTRIES) return undefined;
  const findings: Finding[] = [];
  const repaired = entries.map((lines, index, groups) => {
    const quoted = quoteEntry(lines);
    if (quoted === undefined) return lines;
    const line = place.line + groups.slice(0, index).reduce((sum, group) => sum + group.length, 0);
    findings.push(
      finding(
        'warning',
        'repaired_yaml',
        `The value of \`${quoted.key}\` was read as if it were in quotes.`,
        {
          file: place.file,
          line,
        },
      ),
    );
    return quoted.lines;
  });
  return findings.length === 0 ? undefined : { block: repaired.flat().join('\n'), findings };
}

/** An entry is a line at column 0 and the indented or blank lines after it. */
function groupEntries(block: string): string[][] {
  const groups: string[][] = [];
  for (const line of block.split('\n')) {
    const last = groups.at(-1);
    if (last !== undefined && /^(?:[ \t]|\r?$)/.test(line)) last.push(line);
    else groups.push([line]);
  }
  return groups;
}

function quoteEntry(lines: string[]): { key: string; lines: string[] } | undefined {
  const match = ENTRY.exec(lines[0] ?? '');
  if (match === null) return undefined;
  const [, key = '', first = ''] = match;
  if (ANCHOR.test(first) || (STRUCTURED.has(key) && /^[[{]/.test(first))) return undefined;
  if (lines.slice(1).some((line) => FIELD_INSIDE.test(line))) return undefined;
  const alone = readYamlFields(lines.join('\n'), { file: '', line: 1 });
  if (!('severity' in alone)) return undefined;
  const value = [first, ...lines.slice(1).map((line) => line.trim())].filter((part) => part !== '').join(' ');
  // JSON strings are YAML double-quoted scalars (YAML 1.2.2, 1.3).
  return { key, lines: [`${key}: ${JSON.stringify(value)}`, ...lines.slice(1).map(() => '')] };
}
