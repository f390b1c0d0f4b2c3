// npm run bench:cold [-- --check] [--json FILE]: cold starts of the built API function. See docs/benchmarks.md.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { bundleFunction, bundleFunctions } from '../scripts/bundle-functions.mjs';
import { runIn, scratchDirectory, startChild } from './processes.mjs';
import { describeMachine } from './report.mjs';

/** Of the tenant; the built-in ones come on top. */
const SKILLS = 20;
const BUILTIN_SKILLS = readdirSync(new URL('../skills-bundle', import.meta.url)).length;
const STARTS = 25;
const MOST = 1.5;

const { values: options } = parseArgs({ options: { check: { type: 'boolean' }, json: { type: 'string' } } });
const scratch = await scratchDirectory('cold');
const server = startChild('cold-server.mjs');
await runIn(scratch, bench);

async function bench() {
  const product = (await bundleFunctions(scratch)).find(({ name }) => name === 'api');
  const baselineFolder = path.join(scratch, 'functions', 'baseline');
  const { report: baseline } = await bundleFunction(
    'bench/cold-baseline.ts',
    baselineFolder,
    path.join(scratch, 'maps'),
  );
  const backend = await server.call('start', { skills: SKILLS });
  const environment = environmentOf(backend);
  const sides = [
    { name: 'product', bundle: 'api', path: '/v1/catalog', size: product },
    { name: 'baseline', bundle: 'baseline', path: '/v1/catalog', size: baseline },
    { name: 'baseline, no calls', bundle: 'baseline', path: '/nothing', size: baseline },
  ].map((side) => ({ ...side, event: eventOf(side.path, backend.key), starts: [] }));

  // The first of each fills the file cache.
  for (const side of sides) checkAnswer(side, await start(side, environment));
  for (let round = 0; round < STARTS; round += 1) {
    // Nobody is always after the same one.
    const order = sides.map((_, place) => sides[(place + round) % sides.length]);
    for (const side of order) side.starts.push(await start(side, environment));
  }
  const result = {
    machine: describeMachine(scratch),
    starts: STARTS,
    sides: sides.map(({ name, size, starts }) => ({
      name,
      ...summary(starts),
      all: size.all,
      initial: size.initial,
    })),
  };
  const [ours, theirs] = result.sides;
  result.ratio = ours.cold.median / theirs.cold.median;
  result.totalRatio = ours.total.median / theirs.total.median;
  result.processorRatio = ours.processor.median / theirs.processor.median;
  process.stdout.write(`${printable(result)}\n`);
  if (options.json !== undefined) await writeFile(options.json, `${JSON.stringify(result, null, 2)}\n`);
  if (options.check === true && result.ratio > MOST) {
    console.error(`The ratio is above ${MOST}.`);
    process.exitCode = 1;
  }
}

/** The AWS environment as Lambda gives it, with the endpoints of our own server; nothing of this machine's. */
function environmentOf({ endpoint, item, object }) {
  return {
    AWS_ENDPOINT_URL_S3: endpoint,
    AWS_ENDPOINT_URL_DYNAMODB: endpoint,
    AWS_REGION: 'eu-central-1',
    AWS_ACCESS_KEY_ID: 'bench',
    AWS_SECRET_ACCESS_KEY: 'bench',
    AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
    HOME: scratch,
    SKILLBUCKET_BUCKET: 'bench',
    SKILLBUCKET_TABLE: 'bench',
    SKILLBUCKET_S3_PATH_STYLE: 'true',
    BASELINE_BUCKET: 'bench',
    BASELINE_TABLE: 'bench',
    BASELINE_KEY: JSON.stringify(item),
    BASELINE_OBJECT: object,
  };
}

/** A Function URL's event, payload format 2.0. */
function eventOf(rawPath, key) {
  return JSON.stringify({
    version: '2.0',
    routeKey: '$default',
    rawPath,
    rawQueryString: '',
    headers: { host: 'x.lambda-url.example', authorization: `Bearer ${key}` },
    requestContext: { http: { method: 'GET', path: rawPath }, domainName: 'x.lambda-url.example' },
    body: null,
    isBase64Encoded: false,
  });
}

async function start({ bundle, event }, env) {
  const file = pathToFileURL(path.join(scratch, 'functions', bundle, 'index.mjs')).href;
  const script = fileURLToPath(new URL('cold-start.mjs', import.meta.url));
  // The product's log goes to a file, as it goes to a pipe in Lambda.
  const log = openSync(path.join(scratch, 'log'), 'a');
  const child = spawn(process.execPath, [script, file, event], {
    env,
    stdio: ['ignore', log, 'inherit', 'pipe'],
  });
  let text = '';
  child.stdio[3].setEncoding('utf8').on('data', (chunk) => (text += chunk));
  closeSync(log);
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${bundle} ended with ${code}.`);
  return JSON.parse(text);
}

/** A fast refusal must not pass for a fast start. */
function checkAnswer({ name, path: asked }, { statusCode, body }) {
  const answer = statusCode === 200 ? JSON.parse(body) : {};
  const found = answer.skills?.length ?? answer.status;
  const wanted = { product: SKILLS + BUILTIN_SKILLS, baseline: SKILLS, 'baseline, no calls': 'ok' }[name];
  if (found !== wanted) throw new Error(`${name} answered ${asked} with ${statusCode} ${body.slice(0, 200)}`);
}

function summary(starts) {
  const of = (figure) => {
    const sorted = starts.map(figure).sort((a, b) => a - b);
    const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
    return { median: at(0.5), p95: at(0.95) };
  };
  return {
    node: of(({ begun }) => begun),
    import: of(({ begun, imported }) => imported - begun),
    request: of(({ imported, answered }) => answered - imported),
    cold: of(({ begun, answered }) => answered - begun),
    total: of(({ answered }) => answered),
    processor: of(({ processor }) => processor),
  };
}

function printable({ machine, starts, sides, ratio, totalRatio, processorRatio }) {
  const { cpu, cores, node, os: system, product, commit } = machine;
  const pair = ({ median, p95 }) => `${median.toFixed(1)} / ${p95.toFixed(1)}`;
  const kilobytes = ({ raw, gzip }) => `${(raw / 1024).toFixed(0)} / ${(gzip / 1024).toFixed(0)}`;
  const rows = [
    [
      'COLD START, ms',
      'import',
      'first request',
      'both',
      'with Node',
      'processor',
      'read first, KB',
      'all, KB',
    ],
    ['', ...Array(5).fill('median / p95'), 'raw / gzip', 'raw / gzip'],
    ...sides.map((side) => [
      side.name,
      ...[side.import, side.request, side.cold, side.total, side.processor].map(pair),
      kilobytes(side.initial),
      kilobytes(side.all),
    ]),
  ];
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  const line = (row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0]) : cell.padStart(widths[column] + 2)))
      .join('');
  return [
    `Skillbucket ${product} (commit ${commit}), Node ${node}, ${system}, ${cores} cores of ${cpu}`,
    `${starts} process starts of each, interleaved; ${SKILLS} skills of the tenant and ${BUILTIN_SKILLS} built-in ones`,
    '',
    ...rows.map(line),
    '',
    `Import and first request: ${ratio.toFixed(2)} times the baseline; at most ${MOST} is what we allow ourselves.`,
    `With Node's own start: ${totalRatio.toFixed(2)} times; processor time, Node's start included: ${processorRatio.toFixed(2)} times.`,
  ].join('\n');
}
