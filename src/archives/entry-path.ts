import { show } from '../core/ids.ts';
import type { ArchiveLimits } from '../core/limits.ts';
import { pathProblem } from '../core/resources/selector.ts';
import { tooLarge, unsafe } from './refusals.ts';

export type EntryKind = 'file' | 'directory';

/** The paths of one archive, gathered while it is read. */
export interface EntryPaths {
  /**
   * Takes the next entry in and answers its path, without a leading `./` and, for a directory, the trailing `/`;
   * the directory that everything is packed in (`./`) is `''`.
   *
   * @throws SkillError archive_unsafe, archive_too_large
   */
  add(name: string, kind: EntryKind): string;
}

export function entryPaths(limits: Pick<ArchiveLimits, 'maxPathBytes'>): EntryPaths {
  const files = new Set<string>();
  const directories = new Set<string>();

  return {
    add(name, kind) {
      const path = entryPath(name, kind, limits.maxPathBytes);
      if (path === '') return path;
      if (files.has(path)) {
        throw unsafe(name, kind === 'file' ? 'is in the archive twice' : 'is both a file and a directory');
      }
      if (kind === 'file' && directories.has(path)) throw unsafe(name, 'is both a file and a directory');
      for (const parent of parentsOf(path)) {
        if (files.has(parent)) throw unsafe(name, `lies below ${show(parent)}, which is a file`);
        directories.add(parent);
      }
      (kind === 'file' ? files : directories).add(path);
      return path;
    },
  };
}

function entryPath(name: string, kind: EntryKind, maxPathBytes: number): string {
  const relative = name.replace(/^(?:\.\/)+/, '');
  if (kind === 'directory' && name !== '' && (relative === '' || relative === '.')) return '';

  const path = kind === 'directory' && relative.endsWith('/') ? relative.slice(0, -1) : relative;
  const problem = pathProblem(path);
  if (problem !== undefined) throw unsafe(name, problem);
  // Decoders put U+FFFD where the bytes were no UTF-8, so two different names could become one.
  if (path.includes('\ufffd')) throw unsafe(name, 'is not valid UTF-8');

  const bytes = Buffer.byteLength(path);
  if (bytes > maxPathBytes) {
    throw tooLarge(
      `The path of entry ${show(name)} has ${bytes} bytes; at most ${maxPathBytes} are allowed (maxPathBytes).`,
      maxPathBytes,
    );
  }
  return path;
}

function* parentsOf(path: string): Generator<string> {
  for (let slash = path.indexOf('/'); slash !== -1; slash = path.indexOf('/', slash + 1)) {
    yield path.slice(0, slash);
  }
}
