import { lstat } from 'node:fs/promises';
import path from 'node:path';
import { SkillError } from '../../core/errors.ts';
import { parseSkill } from '../../core/format/skill-document.ts';
import { MAX_SKILL_MD_BYTES } from '../../core/limits.ts';
import { skillMdAmong } from '../../sources/discovery.ts';
import { isSystemError, listDirectory, readRegularFile } from '../../sources/file-system.ts';
import { jsonText, plain, plainLines } from '../plain.ts';
import type { Command } from '../io.ts';
import { onlyOne, readOptions } from '../options.ts';
import { printFindings, styled } from '../print.ts';

export const showCommand: Command = {
  name: 'show',
  summary: 'Show one skill',
  help: `Usage: skillbucket show SKILL [--body] [--json]

Shows the metadata of one skill: its folder or its SKILL.md.

  --body   the instructions too, as an agent gets them; control characters are
           shown and not obeyed
  --json   for a program, exactly

Example: skillbucket show skills-bundle/sql-review --body`,

  async run(args, io) {
    const { values, positionals } = readOptions(args, {
      body: { type: 'boolean' },
      json: { type: 'boolean' },
    });
    const file = await skillFileOf(onlyOne(positionals, 'SKILL'));
    const { bytes } = await readRegularFile(file, { maxBytes: MAX_SKILL_MD_BYTES });
    const directory = path.basename(path.dirname(path.resolve(file)));
    const { metadata, findings, instructions } = parseSkill(
      { path: file, fileName: path.basename(file), directory, bytes },
      'lenient',
    );
    if (values.json === true) {
      const body = values.body === true ? { instructions } : {};
      io.out(jsonText({ file, ...metadata, ...body, findings }));
    } else {
      if (metadata !== undefined) {
        const rows: [string, string | undefined][] = [
          ['description', metadata.description.replaceAll(/\s+/g, ' ').trim()],
          ['license', metadata.license],
          ['compatibility', metadata.compatibility],
          ['tags', metadata.tags.join(', ')],
          ['version', metadata.version],
          ['allowed-tools', metadata.allowedTools.join(' ')],
          ['file', file],
        ];
        io.out(`${styled(io, 'bold', plain(metadata.name))}\n`);
        for (const [name, value] of rows) {
          if (value !== undefined && value !== '')
            io.out(`  ${styled(io, 'dim', name.padEnd(14))} ${plain(value)}\n`);
        }
        if (values.body === true) io.out(`\n${plainLines(instructions ?? '')}`);
      }
      printFindings(io, findings);
    }
    return metadata === undefined ? 1 : 0;
  },
};

async function skillFileOf(given: string): Promise<string> {
  const stats = await lstat(given).catch((error: unknown) => {
    if (!isSystemError(error)) throw error;
    throw new SkillError('unreadable', { detail: `${given} cannot be read (${error.code}).` });
  });
  if (!stats.isDirectory()) return given;
  const entries = await listDirectory(given);
  if (typeof entries === 'string') throw new SkillError('unreadable', { detail: `${given} is ${entries}.` });
  const name = skillMdAmong(entries);
  if (name === undefined) throw new SkillError('no_skills_found', { detail: `${given} has no SKILL.md.` });
  return path.join(given, name);
}
