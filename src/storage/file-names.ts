import { encodeUtf8 } from '../core/format/utf8.ts';

/** Ends the name of a folder, so that the keys `a` and `a/b` can both be there. */
export const FOLDER = '+';
/** What common file systems allow in a name, less the suffixes above and a version's digits. */
const MAX_NAME_BYTES = 240;

/** Key segments become names; what a file system could read otherwise, or not tell apart, is encoded. */
export function namesOf(key: string): string[] {
  const parts = key.split('/').map(encodeSegment);
  if (!key.isWellFormed() || parts.some((part) => part === '' || part.length > MAX_NAME_BYTES))
    throw new TypeError(`Not an object key: ${JSON.stringify(key)}`);
  return parts.map((part, index) => (index < parts.length - 1 ? part + FOLDER : part));
}

/** Capitals are encoded because macOS and Windows take `A` for `a`; other scripts because of Unicode's normal forms. */
function encodeSegment(segment: string): string {
  return segment
    .replaceAll(/[^a-z0-9._-]/gu, percent)
    .replace(/^\./, percent)
    .replace(/\.$/, percent)
    .replace(
      /^(?:con|prn|aux|nul|com\d|lpt\d)(?=\.|$)/,
      (device) => percent(device.charAt(0)) + device.slice(1),
    );
}

function percent(character: string): string {
  return [...encodeUtf8(character)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
}

/** The segment that a name stands for; undefined for a name that this store never gives (`.DS_Store`). */
export function segmentOf(name: string): string | undefined {
  try {
    const segment = decodeURIComponent(name);
    return /^[^/]+$/.test(segment) && encodeSegment(segment) === name ? segment : undefined;
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}
