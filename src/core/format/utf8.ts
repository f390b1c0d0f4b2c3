/** Strict UTF-8 in and out. `TextDecoder` is fatal here: a mangled byte is refused, never replaced. */
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const encoder = new TextEncoder();

/** The text, or undefined when the bytes are not UTF-8. A leading byte order mark is kept. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

export function encodeUtf8(text: string): Uint8Array {
  return encoder.encode(text);
}

/** Characters as specifications count them. */
export function codePoints(text: string): string[] {
  return Array.from(text);
}

/** Bytes that the text has in UTF-8. */
export function utf8Length(text: string): number {
  return Buffer.byteLength(text, 'utf8');
}

/** 1-based line of the first byte that is not UTF-8 (no multi-byte sequence contains a line feed). */
export function firstInvalidLine(bytes: Uint8Array): number {
  let line = 1;
  let start = 0;
  while (start <= bytes.length) {
    const end = bytes.indexOf(0x0a, start);
    const stop = end === -1 ? bytes.length : end;
    if (decodeUtf8(bytes.subarray(start, stop)) === undefined) return line;
    if (end === -1) break;
    start = end + 1;
    line += 1;
  }
  return line;
}
