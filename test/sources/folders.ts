import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach } from 'vitest';
import { writeFiles } from '../support/skills.ts';

/** Temporary folders of one test file; each is removed after its test. */
export function temporaryFolders(): (
  files?: Readonly<Record<string, string | Uint8Array>>,
) => Promise<string> {
  const made: string[] = [];
  afterEach(async () => {
    await Promise.all(made.splice(0).map((one) => rm(one, { recursive: true, force: true })));
  });
  return async (files = {}) => {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'skillbucket-sources-'));
    made.push(folder);
    await writeFiles(folder, files);
    return folder;
  };
}

/** A named pipe: a file that opens and never ends. Also root cannot read one, unlike a file without permissions. */
export async function makePipe(file: string): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true });
  execFileSync('mkfifo', [file]);
}
