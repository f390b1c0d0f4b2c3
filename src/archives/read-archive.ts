import type { ArchiveLimits } from '../core/limits.ts';
import type { ArchiveFile } from './archive-file.ts';
import { invalid, tooLarge } from './refusals.ts';
import { readTarGz } from './tar.ts';
import { readZip } from './zip.ts';

export type { ArchiveFile };

/**
 * Reads a zip or gzip-compressed tar (told apart by content, never by name or content type), within limits. All or
 * nothing: one entry that is refused refuses the archive. Directories are checked and left out; noise is kept.
 *
 * @throws SkillError archive_invalid | archive_unsafe | archive_too_large, naming the entry and the limit
 */
export async function readArchive(bytes: Uint8Array, limits: ArchiveLimits): Promise<readonly ArchiveFile[]> {
  if (bytes.length > limits.maxPackedBytes) {
    throw tooLarge(
      `The archive has ${bytes.length} bytes; at most ${limits.maxPackedBytes} are allowed (maxPackedBytes).`,
      limits.maxPackedBytes,
    );
  }
  if (startsWith(bytes, 'PK\u0003\u0004') || startsWith(bytes, 'PK\u0005\u0006'))
    return readZip(bytes, limits);
  if (startsWith(bytes, '\u001f\u008b')) return readTarGz(bytes, limits);
  if (bytes.length === 0) throw invalid('The archive is empty: it has no bytes at all.');
  if (startsWith(bytes.subarray(USTAR_MAGIC_OFFSET), 'ustar')) {
    throw invalid('This is a tar without compression: compress it with gzip (tar -czf).');
  }
  throw invalid('The bytes begin neither as a zip nor as a gzip-compressed tar.');
}

const USTAR_MAGIC_OFFSET = 257;

/** `signature` as Latin-1: one character a byte. */
function startsWith(bytes: Uint8Array, signature: string): boolean {
  return Buffer.from(signature, 'latin1').equals(bytes.subarray(0, signature.length));
}
