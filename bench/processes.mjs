// Children of the benchmark, each in a process of its own, asked by messages.
import { fork } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const children = [];

/** A directory of its own for a benchmark that is then run by `runIn`. */
export const scratchDirectory = (name) => mkdtemp(path.join(os.tmpdir(), `skillbucket-${name}-`));

/** Runs it; whatever comes of it, its children end and its directory goes. */
export async function runIn(scratch, bench) {
  try {
    await bench();
  } catch (error) {
    console.error(`The benchmark failed. ${error.message}`);
    process.exitCode = 1;
  } finally {
    for (const child of children) child.kill();
    await rm(scratch, { recursive: true, force: true, maxRetries: 5 });
  }
}

/**
 * @param {string} file beside this one
 * @param {{ stdout?: number }} [options] file descriptor for what it prints (the product's log)
 */
export function startChild(file, options = {}) {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), {
    stdio: ['ignore', options.stdout ?? 'inherit', 'inherit', 'ipc'],
    serialization: 'advanced',
    // As bin/skillbucket.mjs does, and for its reason.
    env: { ...process.env, AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true' },
  });
  children.push(child);
  const waiting = [];
  child.on('message', ({ value, error }) => {
    const { resolve, reject } = waiting.shift();
    if (error === undefined) resolve(value);
    else reject(new Error(`${file}: ${error}`));
  });
  child.on('exit', (code) => {
    for (const { reject } of waiting.splice(0)) reject(new Error(`${file} ended with ${code}`));
  });
  return {
    call: (name, input) =>
      new Promise((resolve, reject) => {
        waiting.push({ resolve, reject });
        child.send({ name, input });
      }),
    stop: () => child.kill(),
  };
}

/** The child's side: one answer to a message, in order. */
export function answerCalls(handlers) {
  let last = Promise.resolve();
  process.on('message', ({ name, input }) => {
    last = last.then(async () => {
      try {
        process.send({ value: await handlers[name](input) });
      } catch (error) {
        process.send({ error: error.stack });
      }
    });
  });
  process.on('disconnect', () => process.exit());
}

/** For servers: processor time so far, in microseconds. */
export function processorTime() {
  const { user, system } = process.cpuUsage();
  return user + system;
}
