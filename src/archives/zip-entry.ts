import { isUtf8 } from 'node:buffer';
import { getFileNameLowLevel, type Entry } from 'yauzl';
import { show } from '../core/ids.ts';
import type { EntryKind, EntryPaths } from './entry-path.ts';
import type { ArchiveFile } from './archive-file.ts';
import { invalid, unsafe } from './refusals.ts';

/** Compression methods (APPNOTE 4.4.5). */
export const STORED = 0;
const DEFLATED = 8;

/** General purpose flags (APPNOTE 4.4.4). */
const ENCRYPTED = 0x0001;
const UTF8_NAME = 0x0800;

/** Systems whose upper 16 attribute bits are a Unix mode (APPNOTE 4.4.2). */
const UNIX_SYSTEMS: readonly number[] = [3, 19];
const FILE_TYPE = 0o170000;
const REGULAR = 0o100000;
const DIRECTORY = 0o040000;

/** An entry of the central directory that may be unpacked. */
export interface ZipEntry {
  /** As the archive spells it, for messages. */
  readonly name: string;
  readonly path: string;
  readonly kind: EntryKind;
  readonly mode: ArchiveFile['mode'];
  readonly method: number;
  /** Declared, so never trusted. */
  readonly size: number;
  readonly crc32: number;
  readonly raw: Entry;
}

/** @throws SkillError archive_invalid | archive_unsafe | archive_too_large */
export function describeEntry(raw: Entry, paths: EntryPaths): ZipEntry {
  const name = nameOf(raw);
  if ((raw.generalPurposeBitFlag & ENCRYPTED) !== 0) throw invalid(`Entry ${show(name)} is encrypted.`);
  const method = raw.compressionMethod;
  if (method !== STORED && method !== DEFLATED) {
    throw invalid(`Entry ${show(name)} uses compression method ${method}; only stored and deflate are read.`);
  }

  // APPNOTE 4.4.17 demands `/`, and some tools of Windows write `\` all the same.
  const slashed = name.replaceAll('\\', '/');
  const kind: EntryKind = slashed.endsWith('/') ? 'directory' : 'file';
  const unixMode = raw.externalFileAttributes >>> 16;
  const type = unixMode & FILE_TYPE;
  // Checked whatever system made it: Python on Windows writes the mode of a link and calls the system DOS.
  if (type !== 0 && type !== (kind === 'file' ? REGULAR : DIRECTORY)) {
    throw unsafe(name, `is no regular file or directory (Unix mode ${unixMode.toString(8)})`);
  }
  const executable = UNIX_SYSTEMS.includes(raw.versionMadeBy >>> 8) && (unixMode & 0o100) !== 0;
  return {
    name,
    path: paths.add(slashed, kind),
    kind,
    mode: executable ? 0o755 : 0o644,
    method,
    size: raw.uncompressedSize,
    crc32: raw.crc32,
    raw,
  };
}

/** Without the UTF-8 flag a name is CP437, yet many tools write UTF-8 and do not say so. */
function nameOf(raw: Entry): string {
  const flags = raw.generalPurposeBitFlag | (isUtf8(raw.fileNameRaw) ? UTF8_NAME : 0);
  return getFileNameLowLevel(flags, raw.fileNameRaw, raw.extraFields, true);
}
