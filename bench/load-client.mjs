// The load: HTTP/1.1 over plain keep-alive sockets, since the client of node:http costs more than the bare server that it
// would measure. Closed loop: each connection sends its next request when its answer is complete and right.
import { connect } from 'node:net';
import { answerCalls, processorTime } from './processes.mjs';

const END_OF_HEAD = Buffer.from('\r\n\r\n');
const LENGTH = /\r\ncontent-length: (\d+)/i;

let sessions = 0;

answerCalls({
  /**
   * @param job { port, items, requests, connections }; an item is { name, request: [text, text], answer: { status,
   *   body, compared } }. Between the two texts goes a session id of its own, where there are two. `compared` are the ranges
   *   of the body that must be equal; the rest must have the same length.
   * @returns { perSecond, p50, p99, busy }: milliseconds, and this process's share of one core
   */
  async run(job) {
    const items = job.items.map(({ name, request, answer }) => ({
      name,
      request,
      answer: { ...answer, body: Buffer.from(answer.body) },
    }));
    const sockets = await Promise.all(Array.from({ length: job.connections }, () => open(job.port)));
    const latencies = new Float64Array(job.requests);
    const processor = processorTime();
    const started = performance.now();
    let next = 0;
    await Promise.all(
      sockets.map(async (socket) => {
        while (next < job.requests) {
          const index = next++;
          latencies[index] = await exchange(socket, items[index % items.length]);
        }
      }),
    );
    const elapsed = performance.now() - started;
    for (const socket of sockets) socket.destroy();
    latencies.sort();
    const at = (share) => latencies[Math.min(latencies.length - 1, Math.ceil(latencies.length * share) - 1)];
    return {
      perSecond: (job.requests / elapsed) * 1000,
      p50: at(0.5),
      p99: at(0.99),
      busy: (processorTime() - processor) / 1000 / elapsed,
    };
  },
});

function open(port) {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => resolve(socket));
    socket.on('error', reject);
  });
}

/** One request and its whole answer; milliseconds. */
function exchange(socket, { name, request: [before, after], answer }) {
  return new Promise((resolve, reject) => {
    let head;
    let received = 0;
    const stop = (problem) => {
      socket.off('data', onData);
      socket.off('close', onClose);
      if (problem === undefined) resolve(performance.now() - started);
      else reject(new Error(`${name}: ${problem}`));
    };
    const onClose = () => stop('the connection was closed');
    const onBody = (bytes) => {
      if (!isEqual(bytes, received, answer)) return stop(`other bytes than expected near ${received}`);
      received += bytes.length;
      if (received === answer.body.length) stop();
      if (received > answer.body.length) stop('more bytes than expected');
    };
    const onData = (chunk) => {
      if (head === true) return onBody(chunk);
      const bytes = head === undefined ? chunk : Buffer.concat([head, chunk]);
      const end = bytes.indexOf(END_OF_HEAD);
      if (end === -1) {
        head = bytes;
        return;
      }
      head = true;
      const text = bytes.latin1Slice(0, end);
      const status = Number(text.slice(9, 12));
      if (status !== answer.status || Number(LENGTH.exec(text)?.[1]) !== answer.body.length) {
        return stop(
          `not the expected answer of ${answer.body.length} bytes:\n${bytes.toString('utf8', 0, 2_000)}`,
        );
      }
      onBody(bytes.subarray(end + END_OF_HEAD.length));
    };
    socket.on('data', onData);
    socket.on('close', onClose);
    const started = performance.now();
    socket.write(after === undefined ? before : before + newSession() + after);
  });
}

function isEqual(bytes, offset, { body, compared }) {
  return compared.every(([from, to]) => {
    const start = Math.max(from, offset);
    const end = Math.min(to, offset + bytes.length);
    return start >= end || body.compare(bytes, start - offset, end - offset, start, end) === 0;
  });
}

/** As long as a UUID, and new. */
function newSession() {
  sessions += 1;
  return `bench-${process.hrtime.bigint().toString(36).padStart(16, '0')}-${String(sessions).padStart(13, '0')}`;
}
