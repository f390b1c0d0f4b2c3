import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { pack } from 'tar-stream';
import type { ArchiveFile } from './archive-file.ts';

/**
 * A gzip-compressed tar of the files, in their order. The same files give the same bytes: no times, no owners, so an
 * upload that was cut off is found again by its digest.
 */
export async function packTarGz(files: readonly ArchiveFile[]): Promise<Uint8Array> {
  const tar = pack();
  for (const { path, mode, bytes } of files) {
    tar.entry({ name: path, mode, mtime: new Date(0), type: 'file' }, Buffer.from(bytes));
  }
  tar.finalize();
  const chunks: Uint8Array[] = [];
  for await (const chunk of tar as AsyncIterable<Uint8Array>) chunks.push(chunk);
  return promisify(gzip)(Buffer.concat(chunks), { level: 9 });
}
