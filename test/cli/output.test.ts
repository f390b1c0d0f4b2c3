import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { packageRoot } from '../../src/package-root.ts';
import { temporaryFolders } from '../sources/folders.ts';
import { skillMd } from '../support/skills.ts';

const folder = temporaryFolders();
const BIN = path.join(packageRoot(), 'bin', 'skillbucket.mjs');

/** Runs a line of shell with the command as `$sb` and a folder as `$1`; the command's own exit code comes last. */
async function shell(line: string, source: string): Promise<{ out: string; err: string }> {
  const { stdout, stderr } = await promisify(execFile)('/bin/bash', [
    '-c',
    `sb() { "${process.execPath}" "${BIN}" "$@"; }; ${line}`,
    'bash',
    source,
  ]);
  return { out: stdout, err: stderr };
}

const names = Array.from({ length: 400 }, (_, index) => `skill-${index}`);
const many = () =>
  folder(Object.fromEntries(names.map((name) => [`${name}/SKILL.md`, skillMd(name, 'x'.repeat(900))])));

describe('an output that closes early', () => {
  test.each([
    ['list "$1"', 0],
    ['list "$1" --json', 0],
    ['validate "$1" --json', 0],
    ['index "$1"', 0],
    ['list "$1/missing" --json', 2],
    ['help', 0],
  ])('%s | head -1 ends quietly with the usual code', async (command, code) => {
    const { out, err } = await shell(
      `{ sb ${command} 2>/dev/null; echo "code $?" >&2; } | head -c 1 >/dev/null`,
      await many(),
    );
    expect({ out, err }).toEqual({ out: '', err: `code ${code}\n` });
  });

  test('standard error closed early is nothing either', async () => {
    const source = await folder({ 'demo/SKILL.md': '# Title' });
    const { out } = await shell(`sb validate "$1" 2> >(exec 0<&-) || echo "code $?"`, source);
    expect(out).toBe('code 1\n');
  });

  test('a publication under way is finished', async () => {
    const source = await many();
    const { err } = await shell(
      `{ sb publish "$1" --bundle b --data-dir "$1/../$(basename "$1")-data" 2>/dev/null; echo "code $?" >&2; } | true
       sb publish "$1" --bundle b --data-dir "$1/../$(basename "$1")-data" >&2
       rm -r "$1/../$(basename "$1")-data"`,
      source,
    );
    expect(err).toMatch(/^code 0\nUnchanged: acme\/b is at revision 1/);
  });
});

describe.runIf(existsSync('/dev/full'))('an output that cannot be written', () => {
  test.each(['list "$1"', 'list "$1" --json', 'help', '--version', 'index "$1"'])(
    '%s > /dev/full says so in one line and ends with 2',
    async (command) => {
      const { out, err } = await shell(`sb ${command} > /dev/full; echo "code $?"`, await many());
      expect(out).toBe('code 2\n');
      const lines = err.split('\n').filter((line) => line.includes('cannot be written'));
      expect(lines).toEqual([expect.stringContaining('ENOSPC')]);
      expect(err).not.toMatch(/\n {4}at /);
    },
  );

  test('with standard error full too it still ends with 2', async () => {
    const { out } = await shell('sb list "$1" > /dev/full 2>&1; echo "code $?"', await many());
    expect(out).toBe('code 2\n');
  });
});
