import path from 'node:path';
import { hasErrors } from '../../core/errors.ts';
import { discoverSkills } from '../../sources/discovery.ts';
import { jsonText, plain } from '../plain.ts';
import type { Command } from '../io.ts';
import { UsageError } from '../io.ts';
import { readOptions } from '../options.ts';
import { countOf, printFindings, styled, summaryOf } from '../print.ts';

export const listCommand: Command = {
  name: 'list',
  summary: 'List the skills below folders',
  help: `Usage: skillbucket list FOLDER... [--json]

Lists every skill below the folders, by name. Reads metadata only. When two
folders hold a skill of the same name, the first folder wins and the other is
reported. Naming a folder here is the decision to trust it.

  --json   skills and findings for a program

Exit code: 0 listed, 1 some SKILL.md has errors, 2 a folder could not be read.

Example: skillbucket list ./skills ~/.agents/skills`,

  async run(args, io) {
    const { values, positionals } = readOptions(args, { json: { type: 'boolean' } });
    // An empty name would be the current folder, which a script with an unset variable does not mean.
    if (positionals.length === 0 || positionals.includes(''))
      throw new UsageError('Name one or more folders.');
    const { skills, findings, directories } = await discoverSkills(positionals);
    if (values.json === true) {
      const listed = skills.map(({ name, description, tags, version, file }) => ({
        name,
        description,
        tags,
        version,
        file,
      }));
      io.out(jsonText({ skills: listed, findings, directories }));
    } else {
      for (const skill of skills) {
        io.out(
          `${styled(io, 'bold', plain(skill.name))}\n    ${plain(skill.description.replaceAll(/\s+/g, ' ').trim())}\n    ${styled(io, 'dim', plain(skill.file))}\n`,
        );
      }
      printFindings(io, findings);
      const notes = summaryOf(findings);
      io.err(`${countOf(skills.length, 'skill')}${notes === '' ? '' : `; ${notes}`}\n`);
    }
    const roots = new Set(positionals.map((one) => path.resolve(one)));
    if (directories.some((one) => one.state === 'unreadable' && roots.has(one.path))) return 2;
    return hasErrors(findings) ? 1 : 0;
  },
};
