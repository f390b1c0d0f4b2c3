import { describe, expect, test } from 'vitest';
import { skillbucket } from '../support/terminal.ts';

const COMMANDS = ['list', 'show', 'validate', 'index', 'publish', 'serve'];

describe('[J26] finding one’s way', () => {
  test.each([[[]], [['--help']], [['-h']], [['help']]])('[J26] %j names every command', async (args) => {
    const { code, out, err } = await skillbucket(args);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    for (const name of COMMANDS) expect(out).toContain(name);
  });

  test.each(COMMANDS)('[J26] help of %s, in each spelling, with usage', async (name) => {
    const spellings = [
      ['help', name],
      [name, '--help'],
      [name, '-h'],
      [name, 'x', '--help'],
    ];
    const answers = await Promise.all(spellings.map((args) => skillbucket(args)));
    for (const { code, out, err } of answers) {
      expect({ code, err }).toEqual({ code: 0, err: '' });
      expect(out).toContain(`skillbucket ${name}`);
      expect(out).toBe(answers[0]?.out);
    }
  });

  test.each(['list', 'validate', 'show', 'index', 'publish'])(
    '[J26] %s without a path prints its usage and could not run',
    async (name) => {
      const { code, out, err } = await skillbucket([name]);
      expect({ code, out }).toEqual({ code: 2, out: '' });
      expect(err).toContain(`Usage: skillbucket ${name}`);
    },
  );

  test.each([['--json'], ['--strict']])(
    '[J26] validate with %s alone prints its usage too',
    async (option) => {
      const { code, err } = await skillbucket(['validate', option]);
      expect(code).toBe(2);
      expect(err).toContain('Usage: skillbucket validate');
    },
  );

  test.each([
    ['vaildate', 'validate'],
    ['lst', 'skillbucket help'],
    ['shwo', 'show'],
    ['pubish', 'publish'],
    ['toString', 'skillbucket help'],
    ['--unknown', 'skillbucket help'],
  ])('[J26] the unknown command %s gets guidance: %s', async (name, guidance) => {
    const { code, out, err } = await skillbucket([name, 'x']);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(guidance);
    expect(err).toContain('skillbucket help');
    expect((await skillbucket(['help', name])).code).toBe(2);
  });

  test.each([
    ['list', ['--nope']],
    ['validate', ['.', '--josn']],
    ['show', ['a', 'b']],
    ['index', ['a', 'b']],
    ['publish', ['.']],
    ['publish', ['.', '--bundle']],
    ['serve', ['extra']],
    ['list', ['']],
    ['list', ['.', '']],
  ])('[J26] wrong use of %s (%j) prints its usage, and no stack', async (name, args) => {
    const { code, out, err } = await skillbucket([name, ...args]);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(`Usage: skillbucket ${name}`);
    expect(err).not.toMatch(/ERR_|at .*\.[jt]s/);
  });

  test.each([['--version'], ['-v']])('%s prints the version alone', async (option) => {
    expect(await skillbucket([option])).toEqual({ code: 0, out: '0.0.0-test\n', err: '' });
  });

  test('what a pipe gets has no colours', async () => {
    const { out } = await skillbucket(['help'], { FORCE_COLOR: '1' });
    expect(out).not.toContain('\u001b');
  });
});
