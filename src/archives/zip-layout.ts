import type { Entry, LocalFileHeader, ZipFile } from 'yauzl';
import { show } from '../core/ids.ts';
import { invalid, isLibraryError } from './refusals.ts';
import type { ZipEntry } from './zip-entry.ts';

export interface LocatedEntry {
  readonly entry: ZipEntry;
  /** The compressed data: a view of the zip. */
  readonly packed: Uint8Array;
}

/** In a local header: the real value stands in the zip64 extra field. */
const IN_ZIP64 = 0xffffffff;
/** General purpose flag: CRC and sizes follow the data, the local header has zeros (APPNOTE 4.4.4, bit 3). */
const DATA_DESCRIPTOR = 0x0008;
const ENCRYPTED = 0x0001;
/** What may follow the central directory: its end record, or that of zip64. */
const END_OF_DIRECTORY: readonly number[] = [0x06054b50, 0x06064b50];

/**
 * Finds the data of each entry, and refuses a zip that another reader could understand differently: other local
 * headers, entries that share bytes, more of them than declared, something before the first.
 *
 * @throws SkillError archive_invalid
 */
export async function locate(
  zip: ZipFile,
  bytes: Buffer,
  entries: readonly ZipEntry[],
  directoryStart: number,
  directoryEnd: number,
): Promise<readonly LocatedEntry[]> {
  if (directoryEnd + 4 > bytes.length || !END_OF_DIRECTORY.includes(bytes.readUInt32LE(directoryEnd))) {
    throw invalid(`The central directory does not end after its ${entries.length} declared entries.`);
  }
  const located: LocatedEntry[] = [];
  const extents = [{ what: 'the central directory', start: directoryStart, end: directoryEnd }];
  for (const entry of entries) {
    const local = await localHeader(zip, entry);
    const difference = differenceOf(entry.raw, local);
    if (difference !== undefined) {
      throw invalid(
        `The local header of entry ${show(entry.name)} has another ${difference} than the central directory.`,
      );
    }
    const end = local.fileDataStart + entry.raw.compressedSize;
    located.push({ entry, packed: bytes.subarray(local.fileDataStart, end) });
    extents.push({ what: `entry ${show(entry.name)}`, start: entry.raw.relativeOffsetOfLocalHeader, end });
  }

  extents.sort((a, b) => a.start - b.start);
  let covered = 0;
  for (const { what, start, end } of extents) {
    if (start < covered) throw invalid(`The bytes of ${what} overlap those of another entry.`);
    if (covered === 0 && start > 0) throw invalid(`Something stands before ${what}, the first of the zip.`);
    covered = end;
  }
  return located;
}

async function localHeader(zip: ZipFile, entry: ZipEntry): Promise<LocalFileHeader> {
  try {
    return await zip.readLocalFileHeaderPromise(entry.raw);
  } catch (error) {
    if (isLibraryError(error)) {
      throw invalid(`Entry ${show(entry.name)} has no local header, or less data than declared.`, error);
    }
    throw error;
  }
}

/** What a reader of local headers would take for something else. */
function differenceOf(raw: Entry, local: LocalFileHeader): string | undefined {
  if (!local.fileName.equals(raw.fileNameRaw)) return `name, ${show(local.fileName.toString())},`;
  if (local.compressionMethod !== raw.compressionMethod) return 'compression method';
  if ((local.generalPurposeBitFlag & ENCRYPTED) !== 0) return 'encryption';
  if ((local.generalPurposeBitFlag & DATA_DESCRIPTOR) !== 0) return undefined;
  if (local.crc32 !== raw.crc32) return 'CRC-32';
  const sameSize = (here: number, central: number) => here === central || here === IN_ZIP64;
  const same =
    sameSize(local.compressedSize, raw.compressedSize) &&
    sameSize(local.uncompressedSize, raw.uncompressedSize);
  return same ? undefined : 'size';
}
