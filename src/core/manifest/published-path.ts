import type { Finding } from '../errors.ts';
import { finding } from '../errors.ts';
import { show } from '../ids.ts';
import { ARCHIVE_LIMITS } from '../limits.ts';
import { pathProblem } from '../resources/selector.ts';

/**
 * C1 controls, line separators, and the marks that turn the direction of text (Unicode Standard Annex 9, section 2):
 * with them a name looks like another one (Trojan Source, CVE-2021-42574).
 */
const DECEIVING = /[\u0080-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;

/**
 * Whether a file can be published under its path: the one rule for folders and archives, so that validating tells what
 * publishing would. No mode repairs a name.
 *
 * @param path as an archive of the tree has it
 */
export function publishedPathFinding(path: string): Finding | undefined {
  const problem = publishedPathProblem(path);
  return problem === undefined
    ? undefined
    : finding('error', 'invalid_resource_path', `${show(path)} ${problem}.`, {
        file: path,
        fix: 'Rename the file or its folder.',
      });
}

function publishedPathProblem(path: string): string | undefined {
  const problem = pathProblem(path);
  if (problem !== undefined) return problem;
  // Decoders put U+FFFD where bytes were no UTF-8, so two different names could become one.
  if (path.includes('\ufffd')) return 'is not valid UTF-8';
  const mark = DECEIVING.exec(path)?.[0];
  if (mark !== undefined) {
    const code = mark.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
    return `holds the invisible character U+${code}, which can make it look like another name`;
  }
  const bytes = Buffer.byteLength(path);
  if (bytes > ARCHIVE_LIMITS.maxPathBytes) {
    return `has ${bytes} bytes; a path may have ${ARCHIVE_LIMITS.maxPathBytes}`;
  }
  return undefined;
}
