// npm run bench [-- --json FILE] [--profile DIRECTORY]: measures the product against bare Node. See docs/benchmarks.md.
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { runIn, scratchDirectory, startChild } from './processes.mjs';
import { describeMachine, median, printable } from './report.mjs';
import { askOnce } from './requests.mjs';
import { FILES_PER_SKILL, makeSkills, writeSkills } from './skills.mjs';

const SKILLS = 200;
const ROUNDS = 5;
const CONNECTIONS = [1, 16];
/** Requests of one round, by connections; fixed, and enough for a p99. */
const PRODUCT_REQUESTS = {
  embedded: {
    catalog: [600, 1_200],
    prompt: [800, 1_600],
    load: [200, 300],
    again: [200, 300],
    resource: [300, 500],
  },
  memory: { load: [400, 600], again: [400, 600], resource: [600, 1_000] },
};
const BARE_REQUESTS = [1_500, 3_000];
const NAMES = {
  catalog: 'GET catalog',
  prompt: 'GET catalog/prompt',
  load: 'load_skill, first in session',
  again: 'load_skill, already active',
  resource: 'load_skill_resource, JSON',
};

const { values: options } = parseArgs({ options: { json: { type: 'string' }, profile: { type: 'string' } } });
const started = performance.now();
const scratch = await scratchDirectory('bench');
await runIn(scratch, bench);

async function bench() {
  const skills = makeSkills(SKILLS);
  const skillsDirectory = path.join(scratch, 'skills');
  await writeSkills(skillsDirectory, skills);
  const files = skills.flatMap((skill) => skill.files.map((file) => `${skill.name}/${file.path}`));
  const bytes = skills.flatMap((skill) => skill.files).reduce((sum, file) => sum + file.bytes.length, 0);

  const publishing = await measurePublishing(skillsDirectory, files, bytes);
  const serving = await measureServing(skillsDirectory, skills);
  const result = {
    machine: describeMachine(scratch),
    skills: { count: SKILLS, files: SKILLS * FILES_PER_SKILL, bytes },
    publishing,
    ...serving,
    seconds: (performance.now() - started) / 1000,
  };
  process.stdout.write(`${printable(result)}\n`);
  if (options.json !== undefined) await writeFile(options.json, `${JSON.stringify(result, null, 2)}\n`);
}

async function measurePublishing(skillsDirectory, files, bytes) {
  const child = startChild('publishing.mjs');
  const round = () => child.call('round', { skillsDirectory, files, scratch });
  await round();
  const rounds = [];
  for (let count = 0; count < ROUNDS; count += 1) rounds.push(await round());
  child.stop();
  return Object.fromEntries(
    Object.keys(rounds[0]).map((name) => {
      const seconds = median(rounds.map((one) => one[name]));
      const filesPerSecond = files.length / seconds;
      return [name, { filesPerSecond, megabytesPerSecond: bytes / 1e6 / seconds }];
    }),
  );
}

async function measureServing(skillsDirectory, skills) {
  const client = startChild('load-client.mjs');
  const bare = { server: startChild('bare-server.mjs') };
  bare.port = await bare.server.call('start');
  const rows = [];
  for (const table of ['embedded', 'memory']) {
    const product = await startProduct(table, skillsDirectory);
    const asked = await askOnce(product, skills);
    await bare.server.call(
      'learn',
      Object.values(asked).flatMap((items) => items.map(({ name, answer }) => [name, answer])),
    );
    const measured = Object.keys(PRODUCT_REQUESTS[table]);
    for (const name of measured) await warmUp(client, [product, bare], asked[name]);
    for (const name of measured) {
      for (const [at, connections] of CONNECTIONS.entries()) {
        const requests = { product: PRODUCT_REQUESTS[table][name][at], bare: BARE_REQUESTS[at] };
        rows.push({
          table,
          row: name,
          name: NAMES[name],
          connections,
          requests,
          answerBytes: median(asked[name].map(({ answer }) => answer.body.length)),
          ...(await measureRow(client, { product, bare }, asked[name], connections, requests)),
        });
      }
      if (options.profile !== undefined) await profile(client, product, table, name, asked[name]);
    }
    product.server.stop();
  }
  const busiestClient = Math.max(...rows.flatMap((row) => [row.product.clientBusy, row.bare.clientBusy]));
  return { rows, busiestClient };
}

async function startProduct(table, skillsDirectory) {
  // The log is part of the cost, as for whoever runs `npm start > log`.
  const log = createWriteStream(path.join(scratch, `${table}.log`));
  await once(log, 'open');
  const server = startChild('product-server.mjs', { stdout: log.fd });
  const started = await server.call('start', { dataDir: path.join(scratch, table), skillsDirectory, table });
  return { server, name: table, ...started };
}

/** Also the check before timing that both sides answer every item with the same bytes: the client compares them. */
async function warmUp(client, sides, items) {
  for (const { port } of sides) {
    await client.call('run', { port, items, requests: items.length, connections: 1 });
    await client.call('run', { port, items, requests: 500, connections: 16 });
  }
}

async function measureRow(client, sides, items, connections, requests) {
  const rounds = { product: [], bare: [] };
  for (let round = 0; round < ROUNDS; round += 1) {
    // A drift of the machine must not meet one side alone.
    for (const side of round % 2 === 0 ? ['product', 'bare'] : ['bare', 'product']) {
      const { server, port } = sides[side];
      const before = await server.call('processorTime');
      const { busy, ...measured } = await client.call('run', {
        port,
        items,
        requests: requests[side],
        connections,
      });
      const processor = (await server.call('processorTime')) - before;
      rounds[side].push({
        ...measured,
        serverMicrosecondsPerRequest: processor / requests[side],
        clientBusy: busy,
      });
    }
  }
  const medians = (side) =>
    Object.fromEntries(
      Object.keys(rounds[side][0]).map((key) => [key, median(rounds[side].map((one) => one[key]))]),
    );
  return { product: medians('product'), bare: medians('bare') };
}

/** After the row was measured, since sampling slows what it samples. */
async function profile(client, { server, port }, table, row, items) {
  await mkdir(options.profile, { recursive: true });
  await server.call('startProfile');
  await client.call('run', { port, items, requests: PRODUCT_REQUESTS[table][row][1] * 3, connections: 16 });
  await server.call('stopProfile', path.resolve(options.profile, `${table}-${row}.cpuprofile`));
}
