// One endpoint for several emulators, as `AWS_ENDPOINT_URL` wants it: DynamoDB's requests go to dynalite in this
// process, all others to the server at `target`. Nothing is rewritten, the Host header included, because signatures
// cover it.
import { createServer, request as requestOf } from 'node:http';
import { createRequire } from 'node:module';
import { pipeline } from 'node:stream';

/** Headers about one connection and not about the message (RFC 9110, 7.6.1); `expect` was answered by then. */
const OF_THE_CONNECTION = new Set([
  'connection',
  'expect',
  'keep-alive',
  'proxy-connection',
  'te',
  'transfer-encoding',
  'upgrade',
]);

/** Answers where it listens, on loopback, and how to stop it. Tables are in memory. Port 0 takes a free one. */
export async function startGateway({ target, port = 0 }) {
  // dynalite is CommonJS. It is a server that never listens: the requests are handed to it.
  const tables = createRequire(import.meta.url)('dynalite')({ createTableMs: 0 });
  const server = createServer((request, response) => {
    if (String(request.headers['x-amz-target'] ?? '').startsWith('DynamoDB_')) {
      tables.emit('request', request, response);
    } else {
      forward(request, response, target);
    }
  });
  // Clients keep connections, and one that ends between two requests is an error to them.
  server.keepAliveTimeout = 0;
  await new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  return {
    endpoint: `http://127.0.0.1:${server.address().port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      }),
  };
}

/** Both bodies are streamed. A connection for each request: a kept one could end just as it is used again. */
function forward(request, response, target) {
  const { hostname, port } = new URL(target);
  const headers = messageHeaders(request.rawHeaders);
  if (request.headers['transfer-encoding'] !== undefined) headers.push('transfer-encoding', 'chunked');
  const onward = requestOf({
    hostname,
    port,
    method: request.method,
    path: request.url,
    headers,
    agent: false,
  });
  onward.once('response', (answer) => {
    response.writeHead(answer.statusCode, answer.statusMessage, messageHeaders(answer.rawHeaders));
    pipeline(answer, response, () => {});
  });
  onward.once('error', (error) => {
    if (response.headersSent) response.destroy();
    else
      response
        .writeHead(502, { connection: 'close' })
        .end(`The emulator cannot be reached: ${error.message}\n`);
  });
  // Whoever is gone wants no answer; an unfinished upload must not look finished either.
  response.once('close', () => onward.destroy());
  request.pipe(onward);
}

function messageHeaders(raw) {
  const kept = [];
  for (let index = 0; index < raw.length; index += 2) {
    if (!OF_THE_CONNECTION.has(raw[index].toLowerCase())) kept.push(raw[index], raw[index + 1]);
  }
  return kept;
}
