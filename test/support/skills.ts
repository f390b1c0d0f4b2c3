import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

/** A valid SKILL.md. */
export function skillMd(
  name: string,
  description = `Does ${name}. Use when ${name} is asked for.`,
  body = `# ${name}\n`,
): string {
  return `---\nname: ${name}\ndescription: ${JSON.stringify(description)}\n---\n${body}`;
}

/** Writes files below a new temporary folder and returns it. The caller removes it. */
export async function folderOf(files: Readonly<Record<string, string | Uint8Array>>): Promise<string> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'skillbucket-folder-'));
  await writeFiles(folder, files);
  return folder;
}

export async function writeFiles(
  folder: string,
  files: Readonly<Record<string, string | Uint8Array>>,
): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    const file = path.join(folder, name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, content);
  }
}
