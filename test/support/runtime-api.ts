import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { HttpEvent } from '../../src/http/lambda-event.ts';

/** What the runtime client posted for one invocation. */
export interface Posted {
  readonly path: string;
  readonly contentType: string | undefined;
  readonly mode: string | undefined;
  readonly bytes: Buffer;
  readonly trailers: NodeJS.Dict<string>;
}

export interface RunningFunction {
  invoke(event: HttpEvent): Promise<Posted>;
  /** What the function has printed. */
  output(): string;
  stop(): Promise<void>;
}

const PREFIX = '/2018-06-01/runtime';

/** A function under Lambda's own runtime client, with this process as the Runtime API. */
export async function startFunction(options: {
  readonly node: string;
  readonly client: string;
  readonly folder: string;
  readonly handler: string;
  readonly env: Readonly<Record<string, string>>;
}): Promise<RunningFunction> {
  let output = '';
  let polling: ServerResponse | undefined;
  const waiting: { id: string; event: HttpEvent; settle: (posted: Posted) => void }[] = [];
  const sent = new Map<string, (posted: Posted) => void>();

  function deliver(): void {
    const [next] = waiting;
    if (polling === undefined || next === undefined) return;
    waiting.shift();
    sent.set(next.id, next.settle);
    polling.writeHead(200, {
      'content-type': 'application/json',
      'lambda-runtime-aws-request-id': next.id,
      'lambda-runtime-deadline-ms': String(Date.now() + 30_000),
      'lambda-runtime-invoked-function-arn': 'arn:aws:lambda:eu-central-1:123456789012:function:api',
    });
    polling.end(JSON.stringify(next.event));
    polling = undefined;
  }

  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '').slice(PREFIX.length);
    if (path === '/invocation/next') {
      polling = response;
      deliver();
      return;
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    response.writeHead(202).end('{}');
    sent.get(path.split('/')[2] ?? '')?.({
      path,
      contentType: request.headers['content-type'],
      mode: request.headers['lambda-runtime-function-response-mode'] as string | undefined,
      bytes: Buffer.concat(chunks),
      trailers: request.trailers,
    });
  }

  const server = createServer((request, response) => {
    receive(request, response).catch((error: unknown) => (output += String(error)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const child = spawn(options.node, [options.client, options.handler], {
    cwd: options.folder,
    env: {
      PATH: process.env['PATH'] ?? '',
      AWS_LAMBDA_RUNTIME_API: `127.0.0.1:${(server.address() as AddressInfo).port}`,
      AWS_LAMBDA_FUNCTION_NAME: 'api',
      AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
      AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '512',
      AWS_LAMBDA_LOG_GROUP_NAME: '/aws/lambda/api',
      AWS_LAMBDA_LOG_STREAM_NAME: 'stream',
      LAMBDA_TASK_ROOT: options.folder,
      _HANDLER: options.handler,
      ...options.env,
    },
  });
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  }
  const ended = once(child, 'exit').then(() => {
    throw new Error(`The runtime ended. It said:\n${output}`);
  });
  ended.catch(() => undefined);

  let count = 0;
  return {
    invoke: (event) =>
      Promise.race([
        ended,
        new Promise<Posted>((settle) => {
          waiting.push({
            id: `00000000-0000-0000-0000-${String((count += 1)).padStart(12, '0')}`,
            event,
            settle,
          });
          deliver();
        }),
      ]),
    output: () => output,
    async stop() {
      child.kill();
      await ended.catch(() => undefined);
      server.closeAllConnections();
      server.close();
    },
  };
}
