/**
 * Characters that a terminal obeys or that turn the direction of text, so that what is shown is not what is there:
 * C0 and C1 controls, line separators, bidirectional embeddings, overrides and isolates.
 */
// eslint-disable-next-line no-control-regex -- control characters are just what this looks for
const OBEYED = /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;
const KEPT_IN_LINES = new Set(['\n', '\t']);

const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** A text of others (files, servers) within a line of ours. */
export function plain(text: string): string {
  return text.replaceAll(OBEYED, escaped);
}

/** The same for a text that has lines. */
export function plainLines(text: string): string {
  return text.replaceAll(OBEYED, (character, at: number) =>
    KEPT_IN_LINES.has(character) || text.startsWith('\r\n', at) ? character : escaped(character),
  );
}

/** JSON for a program that a terminal may show, too: parsed it is the same. */
export function jsonText(value: unknown): string {
  return `${plainLines(JSON.stringify(value, null, 2))}\n`;
}
