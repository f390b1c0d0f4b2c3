// Children of the benchmark, each in a process of its own, asked by messages.
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

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
