import type { Finding } from '../errors.ts';
import { finding } from '../errors.ts';
import { MAX_FRONTMATTER_BYTES } from '../limits.ts';
import { decodeUtf8, firstInvalidLine } from './utf8.ts';

/** A SKILL.md taken apart at its fences; the stored bytes stay as they are. */
export interface FencedFile {
  /** The text between the fences, verbatim. */
  readonly frontmatter: string;
  /** Line of the file on which `frontmatter` begins. */
  readonly frontmatterLine: number;
  /** Where the body begins in the bytes. */
  readonly bodyOffset: number;
}

const LF = 0x0a;
const HYPHEN = 0x2d;

/**
 * Finds the frontmatter (Agent Skills specification, "Frontmatter"). A fence is a whole line of `---`, blanks after it
 * allowed; one leading UTF-8 byte order mark is passed over; only the first closing fence counts.
 *
 * @param bytes the file, or at least its first `MAX_FRONTMATTER_BYTES` and a little more
 */
export function splitAtFences(bytes: Uint8Array, file: string): FencedFile | Finding {
  const encoding = otherEncoding(bytes);
  if (encoding !== undefined) {
    return finding('error', 'not_utf8', `${file} is ${encoding}; it must be UTF-8.`, { file, line: 1 });
  }
  const start = hasUtf8Bom(bytes) ? 3 : 0;
  const first = lineEnd(bytes, start);
  if (!isFence(bytes, start, first)) {
    return finding('error', 'no_frontmatter', `${file} does not begin with a line \`---\`.`, {
      file,
      line: 1,
    });
  }
  const blockStart = Math.min(first + 1, bytes.length);
  let at = blockStart;
  while (at < bytes.length) {
    const end = lineEnd(bytes, at);
    if (isFence(bytes, at, end)) {
      if (at - blockStart > MAX_FRONTMATTER_BYTES) return tooLarge(file);
      const block = bytes.subarray(blockStart, at);
      const frontmatter = decodeUtf8(block);
      if (frontmatter === undefined) {
        const line = firstInvalidLine(block) + 1;
        return finding('error', 'not_utf8', `${file} line ${line} is not UTF-8.`, { file, line });
      }
      return { frontmatter, frontmatterLine: 2, bodyOffset: Math.min(end + 1, bytes.length) };
    }
    if (end - blockStart > MAX_FRONTMATTER_BYTES) return tooLarge(file);
    at = end + 1;
  }
  return finding('error', 'no_frontmatter', `${file} has no closing line \`---\`.`, {
    file,
    line: 1,
    fix: 'End the frontmatter with a line `---`.',
  });
}

function tooLarge(file: string): Finding {
  return finding(
    'error',
    'frontmatter_too_large',
    `The frontmatter of ${file} is larger than ${MAX_FRONTMATTER_BYTES} bytes.`,
    { file, line: 1 },
  );
}

function otherEncoding(bytes: Uint8Array): string | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return bytes[2] === 0 && bytes[3] === 0 ? 'UTF-32' : 'UTF-16LE';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'UTF-16BE';
  // Without a byte order mark the first hyphen tells.
  if (bytes[0] === HYPHEN && bytes[1] === 0) return bytes[2] === 0 ? 'UTF-32' : 'UTF-16LE';
  if (bytes[0] === 0 && bytes[1] === HYPHEN) return 'UTF-16BE';
  if (bytes[0] === 0 && bytes[1] === 0) return 'UTF-32';
  return undefined;
}

function hasUtf8Bom(bytes: Uint8Array): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
}

/** Index of the line feed that ends the line, or the length. */
function lineEnd(bytes: Uint8Array, from: number): number {
  const at = bytes.indexOf(LF, from);
  return at === -1 ? bytes.length : at;
}

function isFence(bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start < 3) return false;
  for (let at = start; at < start + 3; at += 1) if (bytes[at] !== HYPHEN) return false;
  for (let at = start + 3; at < end; at += 1) {
    const byte = bytes[at];
    // Blank, tab, and the carriage return of CRLF.
    if (byte !== 0x20 && byte !== 0x09 && byte !== 0x0d) return false;
  }
  return true;
}
