// npm run bench:noisy [-- --json FILE]: what a quiet tenant notices of one that asks without end. See docs/benchmarks.md.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { runIn, scratchDirectory, startChild } from './processes.mjs';
import { describeMachine, describedMachine, median, table } from './report.mjs';
import { makeSkills, writeSkills } from './skills.mjs';

const ROUNDS = 5;
const ROUND_SECONDS = 6;
const QUIET_PER_SECOND = 40;
const NOISY = { perSecond: 1_500 };
const FLOOD = { connections: 32 };
const STATES = {
  alone: { limited: false },
  'beside a noisy one, no limit reached': { limited: false, noise: NOISY },
  'beside a noisy one, limits as shipped': { limited: true, noise: NOISY },
  'beside a flood, no limit reached': { limited: false, noise: FLOOD },
  'beside a flood, limits as shipped': { limited: true, noise: FLOOD },
};

const { values: options } = parseArgs({ options: { json: { type: 'string' } } });
const scratch = await scratchDirectory('noisy');
await runIn(scratch, bench);

async function bench() {
  const skillsDirectory = path.join(scratch, 'skills');
  const skills = makeSkills(50);
  await writeSkills(skillsDirectory, skills);
  const skill = skills[0].name;
  const [free, limited] = [
    await startProduct(skillsDirectory, false),
    await startProduct(skillsDirectory, true),
  ];
  const quiet = startChild('noisy-client.mjs');
  const noisy = startChild('noisy-client.mjs');

  async function round(state, seconds) {
    const { port, key, otherKey } = state.limited ? limited : free;
    const ask = (client, job) => client.call('run', { port, seconds, ...job });
    const [measured, noise] = await Promise.all([
      ask(quiet, { key: otherKey, skill: 'usage-report', perSecond: QUIET_PER_SECOND, catalog: true }),
      state.noise === undefined ? undefined : ask(noisy, { key, skill, ...state.noise }),
    ]);
    return { measured, noise };
  }

  const rounds = Object.fromEntries(Object.keys(STATES).map((name) => [name, []]));
  for (const state of Object.values(STATES)) await round(state, 2);
  for (let count = 0; count < ROUNDS; count += 1) {
    // A drift of the machine must not meet one state alone.
    const names = Object.keys(STATES);
    for (const name of count % 2 === 0 ? names : names.toReversed()) {
      rounds[name].push(await round(STATES[name], ROUND_SECONDS));
    }
  }
  const result = { machine: describeMachine(scratch), states: summaryOf(rounds) };
  process.stdout.write(`${printable(result)}\n`);
  if (options.json !== undefined) await writeFile(options.json, `${JSON.stringify(result, null, 2)}\n`);
}

function summaryOf(rounds) {
  return Object.entries(rounds).map(([name, all]) => {
    const of = (pick) => median(all.map(pick));
    return {
      name,
      quiet: {
        p50: of(({ measured }) => measured.p50),
        p99: of(({ measured }) => measured.p99),
        refused: all.reduce((sum, { measured }) => sum + measured.refused, 0),
      },
      noisy:
        STATES[name].noise === undefined
          ? undefined
          : {
              admittedPerSecond: of(({ noise }) => noise.admitted / ROUND_SECONDS),
              refusedPerSecond: of(({ noise }) => noise.refused / ROUND_SECONDS),
            },
    };
  });
}

function printable({ machine, states }) {
  const [alone] = states;
  const milliseconds = (value) => value.toFixed(2);
  const ratio = (value, base) => (value / base).toFixed(2);
  const number = (value) => Math.round(value).toLocaleString('en-US');
  return [
    describedMachine(machine),
    `A quiet tenant asks ${QUIET_PER_SECOND} times a second at fixed times, catalog and load in turn; medians of ${ROUNDS} interleaved rounds of ${ROUND_SECONDS} s`,
    '',
    ...table([
      ['QUIET TENANT', 'p50 ms', 'ratio', 'p99 ms', 'ratio', 'refused', 'noisy: admitted/s', 'refused/s'],
      ...states.map(({ name, quiet, noisy }) => [
        name,
        milliseconds(quiet.p50),
        ratio(quiet.p50, alone.quiet.p50),
        milliseconds(quiet.p99),
        ratio(quiet.p99, alone.quiet.p99),
        String(quiet.refused),
        noisy === undefined ? '-' : number(noisy.admittedPerSecond),
        noisy === undefined ? '-' : number(noisy.refusedPerSecond),
      ]),
    ]),
    '',
    `The noisy tenant loads ${NOISY.perSecond} skills a second whatever it is answered; the flood loads over ${FLOOD.connections} connections, each again as`,
    'soon as it is answered, 429 or not. Latency counts from when the quiet tenant should have asked. The tenants share one',
    'process, and it and both clients two cores; the table is in memory.',
  ].join('\n');
}

async function startProduct(skillsDirectory, limited) {
  const server = startChild('product-server.mjs', { stdout: 'ignore' });
  const dataDir = path.join(scratch, limited ? 'limited' : 'free');
  return { server, ...(await server.call('start', { dataDir, skillsDirectory, table: 'memory', limited })) };
}
