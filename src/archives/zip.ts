import { crc32, createInflateRaw } from 'node:zlib';
import { fromBufferPromise, type Entry, type ZipFile } from 'yauzl';
import { show } from '../core/ids.ts';
import type { ArchiveLimits } from '../core/limits.ts';
import { inflateWithin, unpackedCeiling, type Ceiling, type Inflated } from './inflate.ts';
import type { ArchiveFile } from './archive-file.ts';
import { invalid, isLibraryError, tooLarge, tooManyEntries } from './refusals.ts';
import { describeEntry, STORED, type ZipEntry } from './zip-entry.ts';
import { entryPaths } from './entry-path.ts';
import { locate } from './zip-layout.ts';

/**
 * Reads a zip by its central directory. All entries are checked before any is unpacked.
 *
 * @throws SkillError archive_invalid | archive_unsafe | archive_too_large
 */
export async function readZip(bytes: Uint8Array, limits: ArchiveLimits): Promise<readonly ArchiveFile[]> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const zip = await open(buffer);
  if (zip.entryCount > limits.maxEntries) throw tooManyEntries(String(zip.entryCount), limits.maxEntries);
  // @types/yauzl calls this number a boolean.
  const directoryStart = Number(zip.readEntryCursor);
  const raw = await listEntries(zip);
  const directoryEnd = Number(zip.readEntryCursor);

  const paths = entryPaths(limits);
  const entries = raw.map((entry) => describeEntry(entry, paths));
  const located = await locate(zip, buffer, entries, directoryStart, directoryEnd);

  const ceiling = unpackedCeiling(bytes.length, limits);
  const files: ArchiveFile[] = [];
  let unpacked = 0;
  for (const { entry, packed } of located) {
    const content = await contentOf(entry, packed, ceiling, unpacked);
    unpacked += content.length;
    if (entry.kind === 'file') files.push({ path: entry.path, mode: entry.mode, bytes: content });
    else if (content.length > 0)
      throw invalid(`Entry ${show(entry.name)} is a directory and yet has content.`);
  }
  return files;
}

async function open(buffer: Buffer): Promise<ZipFile> {
  try {
    // Names and sizes are checked here, where the refusal can name the entry.
    return await fromBufferPromise(buffer, { decodeStrings: false, validateEntrySizes: false });
  } catch (error) {
    if (isLibraryError(error))
      throw invalid('The zip has no readable central directory; is it complete?', error);
    throw error;
  }
}

async function listEntries(zip: ZipFile): Promise<readonly Entry[]> {
  const entries: Entry[] = [];
  try {
    for await (const entry of zip.eachEntry()) entries.push(entry);
  } catch (error) {
    if (isLibraryError(error)) {
      throw invalid(`The central directory of the zip is damaged at entry ${entries.length + 1}.`, error);
    }
    throw error;
  }
  return entries;
}

async function contentOf(
  entry: ZipEntry,
  packed: Uint8Array,
  ceiling: Ceiling,
  alreadyUnpacked: number,
): Promise<Uint8Array> {
  const left = ceiling.bytes - alreadyUnpacked;
  const content = await unpack(entry, packed, Math.min(entry.size, left));
  if (content === undefined && left < entry.size) {
    throw tooLarge(
      `With entry ${show(entry.name)} the zip unpacks to more than the allowed ${ceiling.bytes} bytes (${ceiling.limit}).`,
      ceiling.bytes,
    );
  }
  if (content?.bytes.length !== entry.size || content.consumed !== packed.length) {
    throw invalid(`Entry ${show(entry.name)} does not have the sizes that its header declares.`);
  }
  if (crc32(content.bytes) !== entry.crc32)
    throw invalid(`Entry ${show(entry.name)} does not match its CRC-32.`);
  return content.bytes;
}

/** Undefined when more than `maxBytes` would come out. */
async function unpack(entry: ZipEntry, packed: Uint8Array, maxBytes: number): Promise<Inflated | undefined> {
  if (entry.method === STORED || packed.length === 0) {
    if (packed.length > maxBytes) return undefined;
    // A copy, so that the answer does not change with the caller's buffer.
    return { bytes: Uint8Array.from(packed), consumed: packed.length };
  }
  try {
    return await inflateWithin(createInflateRaw(), packed, maxBytes);
  } catch (error) {
    if (isLibraryError(error))
      throw invalid(`The data of entry ${show(entry.name)} are damaged or end early.`, error);
    throw error;
  }
}
