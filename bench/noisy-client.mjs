// One tenant of bench/noisy.mjs: asks at fixed times, or as fast as it is answered.
import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { answerCalls } from './processes.mjs';

const agent = new Agent({ keepAlive: true });

answerCalls({
  /**
   * @param job { port, key, skill, seconds } with `perSecond`, and `catalog` to ask for that every other time; or with
   *   `connections` for no pause at all. Else it loads.
   * @returns { p50, p99, admitted, refused }: milliseconds, counts
   * @throws Error for every answer but 200 and 429
   */
  async run(job) {
    const latencies = [];
    let refused = 0;
    const note = (status, milliseconds) => {
      if (status === 200) latencies.push(milliseconds);
      else if (status === 429) refused += 1;
      else throw new Error(`Status ${status}`);
    };
    await (job.perSecond === undefined ? withoutPause(job, note) : atFixedTimes(job, note));
    latencies.sort((a, b) => a - b);
    const at = (share) => latencies[Math.max(0, Math.ceil(latencies.length * share) - 1)];
    return { p50: at(0.5), p99: at(0.99), admitted: latencies.length, refused };
  },
});

/** An answer that is late does not put off the next request: its wait would go unseen. */
async function atFixedTimes(job, note) {
  const began = performance.now();
  const asked = [];
  for (let index = 0; index < job.perSecond * job.seconds; index += 1) {
    const due = began + (index * 1000) / job.perSecond;
    const early = due - performance.now();
    if (early > 0) await setTimeout(early);
    const send = job.catalog && index % 2 === 0 ? ask(job, 'GET', '/v1/catalog') : load(job);
    asked.push(send.then((status) => note(status, performance.now() - due)));
  }
  await Promise.all(asked);
}

async function withoutPause(job, note) {
  const until = performance.now() + job.seconds * 1000;
  await Promise.all(
    Array.from({ length: job.connections }, async () => {
      while (performance.now() < until) {
        const from = performance.now();
        note(await load(job), performance.now() - from);
      }
    }),
  );
}

const load = (job) =>
  ask(job, 'POST', '/v1/tools/load_skill', { name: job.skill, context: { session_id: randomUUID() } });

function ask({ port, key }, method, path, body) {
  const content = body === undefined ? undefined : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        port,
        host: '127.0.0.1',
        method,
        path,
        agent,
        headers: {
          authorization: `Bearer ${key}`,
          ...(content === undefined ? {} : { 'content-type': 'application/json' }),
        },
      },
      (response) => {
        response.resume();
        response.on('end', () => resolve(response.statusCode));
        response.on('error', reject);
      },
    );
    sent.on('error', reject);
    sent.end(content);
  });
}
