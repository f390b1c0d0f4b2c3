import { finding, SkillError } from '../../core/errors.ts';
import type { ValidationMode } from '../../core/format/skill-document.ts';
import type { Validation } from '../../operations/validate-tree.ts';
import { validateTree } from '../../operations/validate-tree.ts';
import { jsonText } from '../plain.ts';
import type { Command } from '../io.ts';
import { UsageError } from '../io.ts';
import { readOptions } from '../options.ts';
import { countOf, printFindings, styled, summaryOf } from '../print.ts';
import { treeOf } from '../tree-of.ts';

export const validateCommand: Command = {
  name: 'validate',
  summary: 'Check skills against the Agent Skills format',
  help: `Usage: skillbucket validate PATH... [--strict] [--lenient] [--json]

Checks a folder of skills, one skill, a SKILL.md, a zip or a tar.gz, just as
publishing does. Nothing is stored.

  --strict    also fail on warnings
  --lenient   accept what lenient publishing can repair (told as warnings)
  --json      for a program

Exit code: 0 clean, 1 errors (with --strict: or warnings), 2 could not run.

Example: skillbucket validate ./skills --strict`,

  async run(args, io) {
    const { values, positionals } = readOptions(args, {
      strict: { type: 'boolean' },
      lenient: { type: 'boolean' },
      json: { type: 'boolean' },
    });
    if (positionals.length === 0) throw new UsageError('Name what to validate.');
    const mode = values.lenient === true ? 'lenient' : 'strict';
    const results = [];
    for (const given of positionals) {
      results.push({ path: given, ...(await validated(given, mode)) });
    }
    const findings = results.flatMap((one) => one.findings);
    const failed =
      results.some((one) => !one.valid) ||
      (values.strict === true && findings.some((one) => one.severity === 'warning'));
    if (values.json === true) {
      io.out(jsonText({ valid: !failed, mode, results }));
      return failed ? 1 : 0;
    }
    printFindings(io, findings);
    const skills = results.reduce((sum, one) => sum + one.skills.length, 0);
    const notes = summaryOf(findings);
    if (failed) io.err(`${styled(io, 'red', 'Not valid')}: ${notes}\n`);
    else
      io.out(
        `${styled(io, 'green', 'Valid')}: ${countOf(skills, 'skill')}${notes === '' ? '' : `; ${notes}`}\n`,
      );
    return failed ? 1 : 0;
  },
};

/** An archive that is refused as a whole is an answer about it, as findings are; what cannot be read is none. */
async function validated(given: string, mode: ValidationMode): Promise<Validation> {
  try {
    return await validateTree(await treeOf(given, mode), mode);
  } catch (error) {
    if (!(error instanceof SkillError) || !['invalid', 'too_large'].includes(error.kind)) throw error;
    const { code, message, fix } = error;
    return {
      valid: false,
      mode,
      skills: [],
      findings: [finding('error', code, message, { file: given, fix })],
    };
  }
}
