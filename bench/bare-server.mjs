// The other side of every ratio: node:http answering bytes that it was given, and nothing else.
import { createServer } from 'node:http';
import { answerCalls, processorTime } from './processes.mjs';

/** By the request's `x-bench-answer`; the product gets the same header and does not look at it. */
const answers = new Map();

const server = createServer((request, response) => {
  const answer = answers.get(request.headers['x-bench-answer']);
  const send = () => {
    response.writeHead(answer.status, answer.headers);
    response.end(answer.body);
  };
  if (request.method === 'GET') {
    send();
    return;
  }
  request.resume();
  request.on('end', send);
});

answerCalls({
  start: () => new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server.address().port))),
  learn(given) {
    for (const [name, answer] of given) {
      answers.set(name, { ...answer, body: Buffer.from(answer.body) });
    }
  },
  processorTime,
});
