import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import type { Hono } from 'hono';
import type { Logger } from '../log.ts';
import type { Config } from '../config.ts';
import { SkillError } from '../core/errors.ts';
import type { AppEnv } from '../http/route.ts';
import { createLogger, terminalLines } from '../log.ts';
import { isSystemError } from '../sources/file-system.ts';
import type { Io } from './io.ts';

/** How long requests under way may take after a request to stop. */
const GRACE_MILLISECONDS = 5_000;

/** Listens, tells where, and ends when the process is asked to stop and the requests under way are answered. */
export async function serveUntilStopped(
  app: Hono<AppEnv>,
  config: Config,
  io: Io,
  listening: (url: string) => void | Promise<void>,
): Promise<void> {
  const { server, url } = await listen(app, config);
  await listening(url);
  await io.stopped();
  await stop(server);
}

/** JSON lines for a collector, short ones for a person. */
export function loggerFor(config: Config, io: Io): Logger {
  return createLogger(config.logLevel, io.interactive ? terminalLines(io.out.bind(io)) : undefined);
}

async function listen(app: Hono<AppEnv>, config: Config): Promise<{ server: Server; url: string }> {
  const listener = getRequestListener(app.fetch);
  const server = createServer((request, response) => {
    void listener(request, response);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => {
      reject(
        isSystemError(error)
          ? new SkillError('unavailable', {
              detail: `Port ${config.port} cannot be used (${error.code}). Choose another, for example PORT=8788.`,
              cause: error,
            })
          : error,
      );
    });
    server.listen(config.port, config.host, resolve);
  });
  const { port, family, address } = server.address() as AddressInfo;
  return { server, url: `http://${family === 'IPv6' ? `[${address}]` : address}:${port}` };
}

/** Takes no more requests, lets those under way end, and does not wait for ever. */
async function stop(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => {
      resolve();
    });
  });
  server.closeIdleConnections();
  const late = setTimeout(() => {
    server.closeAllConnections();
  }, GRACE_MILLISECONDS);
  await closed;
  clearTimeout(late);
}
