import { createGunzip } from 'node:zlib';
import { extract, type Header } from 'tar-stream';
import { show } from '../core/ids.ts';
import type { ArchiveLimits } from '../core/limits.ts';
import { entryPaths, type EntryKind } from './entry-path.ts';
import { inflateWithin, joinBytes, unpackedCeiling, type Inflated } from './inflate.ts';
import type { ArchiveFile } from './archive-file.ts';
import { invalid, isLibraryError, tooLarge, tooManyEntries, unsafe } from './refusals.ts';

/**
 * Reads a gzip-compressed tar (POSIX pax, ustar, GNU). The limit on unpacked bytes counts the whole tar: headers,
 * padding and whatever follows its end.
 *
 * @throws SkillError archive_invalid | archive_unsafe | archive_too_large
 */
export async function readTarGz(packed: Uint8Array, limits: ArchiveLimits): Promise<readonly ArchiveFile[]> {
  const tar = await gunzipped(packed, limits);
  const paths = entryPaths(limits);
  const files: ArchiveFile[] = [];
  let entries = 0;
  let latest = 'the beginning';

  const reader = extract();
  reader.end(Buffer.from(tar.buffer, tar.byteOffset, tar.byteLength));
  try {
    for await (const entry of reader) {
      entries += 1;
      if (entries > limits.maxEntries)
        throw tooManyEntries(`more than ${limits.maxEntries}`, limits.maxEntries);
      latest = `entry ${show(entry.header.name)}`;
      const kind = kindOf(entry.header);
      const path = paths.add(entry.header.name, kind);
      if (kind === 'file') {
        files.push({
          path,
          mode: modeOf(entry.header),
          bytes: await contentOf(entry as AsyncIterable<Uint8Array>),
        });
      } else {
        entry.resume();
      }
    }
  } catch (error) {
    if (isLibraryError(error)) {
      throw invalid(`The tar is damaged or ends early, at or after ${latest}.`, error);
    }
    throw error;
  }
  return files;
}

async function gunzipped(packed: Uint8Array, limits: ArchiveLimits): Promise<Uint8Array> {
  const ceiling = unpackedCeiling(packed.length, limits);
  let tar: Inflated | undefined;
  try {
    tar = await inflateWithin(createGunzip(), packed, ceiling.bytes);
  } catch (error) {
    if (isLibraryError(error))
      throw invalid('The gzip data are damaged, end early or have others after them.', error);
    throw error;
  }
  if (tar === undefined) {
    throw tooLarge(
      `The tar unpacks to more than the allowed ${ceiling.bytes} bytes (${ceiling.limit}).`,
      ceiling.bytes,
    );
  }
  // Zeros are padding to a block size; zlib ignores whatever else follows them.
  if (packed.subarray(tar.consumed).some((byte) => byte !== 0))
    throw invalid('Something follows the gzip data.');
  if (tar.bytes.length === 0) throw invalid('The gzip data hold no tar: they unpack to nothing.');
  return tar.bytes;
}

function kindOf(header: Header): EntryKind {
  // A size in a damaged base-256 form arrives as null, and its entry would never end.
  if (!Number.isSafeInteger(header.size)) throw invalid(`Entry ${show(header.name)} has no valid size.`);
  if (Object.keys(header.pax ?? {}).some((key) => key.startsWith('GNU.sparse.'))) {
    throw unsafe(header.name, 'is a sparse file; only regular files and directories are allowed');
  }
  // How tars of old say directory; tar-stream knows it and calls them files all the same.
  if (header.type === 'file' && header.name.endsWith('/') && header.size === 0) return 'directory';
  if (header.type === 'file' || header.type === 'directory') return header.type;
  // Null for a type that tar-stream does not know, whatever its types say.
  const type = header.type as string | null;
  throw unsafe(header.name, `is no regular file or directory (tar type: ${type ?? 'unknown'})`);
}

function modeOf(header: Header): ArchiveFile['mode'] {
  return (header.mode & 0o100) === 0 ? 0o644 : 0o755;
}

/** A view of the tar, which is bounded and ours alone; no copy. */
async function contentOf(entry: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of entry) chunks.push(chunk);
  return joinBytes(chunks);
}
