import { readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Finding } from '../../src/core/errors.ts';
import { packageRoot } from '../../src/package-root.ts';
import type { Ran } from '../support/terminal.ts';
import { skillbucket } from '../support/terminal.ts';

/** Folders of skills, each named for the code that it is refused with, or for what is accepted in it. */
const CORPUS = path.join(packageRoot(), 'test/corpus');
const foldersIn = (group: string) => readdirSync(path.join(CORPUS, group));

const validate = (folder: string, ...options: string[]) =>
  skillbucket(['validate', path.join(CORPUS, folder), '--json', ...options]);

function severities({ out }: Ran, severity: string): string[] {
  const { results } = JSON.parse(out) as { results: { findings: Finding[] }[] };
  return results.flatMap((one) =>
    one.findings.filter((each) => each.severity === severity).map((each) => each.code),
  );
}

describe('The corpus through the command', () => {
  test.each(foldersIn('refused'))('%s is refused in both modes', async (code) => {
    for (const options of [[], ['--lenient']]) {
      const ran = await validate(`refused/${code}`, ...options);
      expect(ran.code).toBe(1);
      expect([...new Set(severities(ran, 'error'))]).toEqual([code]);
    }
  });

  test.each(foldersIn('lenient-only'))(
    '[J23] %s is refused in strict, and told as a warning in lenient',
    async (code) => {
      const strict = await validate(`lenient-only/${code}`);
      expect(strict.code).toBe(1);
      expect([...new Set(severities(strict, 'error'))]).toEqual([code]);
      const lenient = await validate(`lenient-only/${code}`, '--lenient');
      expect(lenient.code).toBe(0);
      expect(severities(lenient, 'error')).toEqual([]);
      // A repaired value is told by a code of its own.
      expect(severities(lenient, 'warning')).toContain(code === 'invalid_yaml' ? 'repaired_yaml' : code);
      expect((await validate(`lenient-only/${code}`, '--lenient', '--strict')).code).toBe(1);
    },
  );

  test.each(foldersIn('accepted'))('%s is accepted, without a warning', async (folder) => {
    const ran = await validate(`accepted/${folder}`, '--strict');
    expect(ran.code).toBe(0);
    expect(severities(ran, 'error')).toEqual([]);
    expect(severities(ran, 'warning')).toEqual([]);
  });
});
