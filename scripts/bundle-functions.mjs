// npm run bundle [-- --out DIRECTORY]: makes of every functions/NAME.ts what is deployed, in build/functions/NAME.
//
// The source maps and esbuild's account of what went in are in build/functions-maps/NAME: they stay here.
import { cp, mkdir, mkdtemp, readdir, realpath, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

/** What reads the built-in skills at run time; a function that holds it gets them too. */
const READS_SKILLS = 'src/sources/builtin.ts';
const SKILLS = 'skills-bundle';
const INDEXES_SKILLS = 'src/sources/index-builtin.ts';

/** For esbuild only: the same input gives the same bytes wherever they are written to. */
const BUILT_AS = 'build/functions/any';

const SETTINGS = {
  absWorkingDir: root,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  minify: true,
  // Packages that are both are taken as ES modules: of these only what is used goes in, and what the AWS SDK imports
  // late stays late.
  mainFields: ['module', 'main'],
  // CommonJS packages ask for Node's own modules this way. The name is one that esbuild makes for nothing else.
  banner: {
    js: 'import{createRequire as nodeRequire}from"node:module";const require=nodeRequire(import.meta.url);',
  },
  logLevel: 'warning',
  write: false,
};

/** Every function, below `out`, which loses what earlier builds left there. */
export async function bundleFunctions(out) {
  const sources = await readdir(path.join(root, 'functions'));
  const names = sources.filter((file) => file.endsWith('.ts')).map((file) => file.slice(0, -'.ts'.length));
  for (const folder of ['functions', 'functions-maps']) {
    await rm(path.join(out, folder), { recursive: true, force: true });
  }
  const reports = [];
  for (const name of names.sort()) {
    const deployed = path.join(out, 'functions', name);
    const maps = path.join(out, 'functions-maps', name);
    const { metafile, report } = await bundleFunction(`functions/${name}.ts`, deployed, maps);
    if (metafile.inputs[READS_SKILLS] !== undefined) await addSkills(deployed);
    reports.push({ name, ...report });
  }
  return reports;
}

/** One function: `index.mjs`, and in `chunks` what it shares with, or is, a dynamic import. */
export async function bundleFunction(entry, deployed, maps) {
  const { outputFiles, metafile } = await build({
    ...SETTINGS,
    entryPoints: { index: entry },
    outdir: BUILT_AS,
    outExtension: { '.js': '.mjs' },
    chunkNames: 'chunks/[name]-[hash]',
    splitting: true,
    // No comment in the code: the file that it would name is not deployed.
    sourcemap: 'external',
    metafile: true,
  });
  const sizes = new Map();
  for (const { path: file, contents } of outputFiles) {
    const name = path.relative(path.join(root, BUILT_AS), file);
    await write(path.join(name.endsWith('.map') ? maps : deployed, name), contents);
    if (name.endsWith('.map')) continue;
    const size = { raw: contents.length, gzip: gzipSync(contents, { level: 9 }).length };
    sizes.set(`${BUILT_AS}/${name.replaceAll('\\', '/')}`, size);
  }
  await write(path.join(maps, 'meta.json'), JSON.stringify(metafile));
  // Says where the package's root is, for package-root.ts.
  await write(path.join(deployed, 'package.json'), '{"type":"module"}\n');
  return { metafile, report: reportOf(metafile, sizes) };
}

/** The built-in skills and their index, made by the same source that makes it at start where there is none. */
async function addSkills(deployed) {
  const skills = path.join(deployed, SKILLS);
  await cp(path.join(root, SKILLS), skills, { recursive: true });
  const scratch = await mkdtemp(path.join(os.tmpdir(), 'skillbucket-index-'));
  try {
    const outfile = path.join(scratch, 'index-builtin.mjs');
    await build({ ...SETTINGS, entryPoints: [INDEXES_SKILLS], outfile, target: 'node20', write: true });
    const { indexBuiltin } = await import(pathToFileURL(outfile).href);
    await write(`${skills}.json`, JSON.stringify(await indexBuiltin(skills)));
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

async function write(file, contents) {
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, contents);
}

/** Sizes of all and of what a start reads: what index.mjs reaches without a dynamic import. */
function reportOf({ outputs }, sizes) {
  const initial = new Set();
  const visit = (file) => {
    if (initial.has(file)) return;
    initial.add(file);
    for (const { path: target, kind, external } of outputs[file].imports) {
      if (kind !== 'dynamic-import' && external !== true) visit(target);
    }
  };
  visit(`${BUILT_AS}/index.mjs`);
  const packages = new Map();
  for (const file of initial) {
    for (const [input, { bytesInOutput }] of Object.entries(outputs[file].inputs)) {
      const name = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(input)?.[1] ?? 'skillbucket';
      packages.set(name, (packages.get(name) ?? 0) + bytesInOutput);
    }
  }
  const sum = (files) => ({
    files: files.length,
    raw: files.reduce((total, file) => total + sizes.get(file).raw, 0),
    gzip: files.reduce((total, file) => total + sizes.get(file).gzip, 0),
  });
  return {
    all: sum([...sizes.keys()]),
    initial: sum([...initial]),
    packages: [...packages].filter(([, bytes]) => bytes > 0).sort((a, b) => b[1] - a[1]),
  };
}

function printable({ name, all, initial, packages }) {
  const size = ({ files, raw, gzip }) =>
    `${(raw / 1024).toFixed(0).padStart(6)} KB, gzip ${(gzip / 1024).toFixed(0).padStart(4)} KB, in ${files} files`;
  return [
    `${name}: code         ${size(all)}`,
    `${''.padEnd(name.length)}  of it first  ${size(initial)}: what a cold start reads`,
    ...packages
      .filter(([, bytes]) => bytes >= 1024)
      .map(([one, bytes]) => `    ${(bytes / 1024).toFixed(1).padStart(7)} KB  ${one}`),
    `    and ${packages.filter(([, bytes]) => bytes < 1024).length} packages below 1 KB`,
  ].join('\n');
}

if (
  process.argv[1] !== undefined &&
  import.meta.url === pathToFileURL(await realpath(process.argv[1])).href
) {
  const { values } = parseArgs({ options: { out: { type: 'string', default: path.join(root, 'build') } } });
  for (const report of await bundleFunctions(path.resolve(values.out))) console.log(printable(report));
}
