import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';

export interface Listening {
  readonly url: string;
  close(): Promise<void>;
}

/** A server on a free loopback port. */
export async function listening(listener: RequestListener): Promise<Listening> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** An app as `skillbucket serve` serves it. */
export const appListener = (app: {
  readonly fetch: (request: Request) => Response | Promise<Response>;
}): RequestListener => {
  const listener = getRequestListener(app.fetch);
  return (request, response) => void listener(request, response);
};
