import { createHash } from 'node:crypto';
import { expect } from 'vitest';
import type { Caller } from './call.ts';
import { json } from './call.ts';

export const hexDigest = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

export interface Ticket {
  readonly status: number;
  readonly upload_id: string;
  readonly state: string;
  readonly url: string;
  readonly headers: Record<string, string>;
}

/** Begins an upload of the archive, as the routes want it. */
export async function begin(
  caller: Caller,
  archive: Uint8Array,
  options: {
    readonly bundle?: string;
    readonly mode?: string;
    readonly headers?: Record<string, string>;
  } = {},
): Promise<Ticket> {
  const response = await caller.post(
    `/v1/bundles/${options.bundle ?? 'main'}/uploads`,
    {
      size: archive.length,
      sha256: hexDigest(archive),
      ...(options.mode === undefined ? {} : { mode: options.mode }),
    },
    options.headers,
  );
  return { ...(await json(response)), status: response.status } as unknown as Ticket;
}

/** Begins, and puts the archive where the ticket says. */
export async function send(
  caller: Caller,
  send: (url: string, init: RequestInit) => Response | Promise<Response>,
  archive: Uint8Array,
  options: Parameters<typeof begin>[2] = {},
): Promise<Ticket> {
  const ticket = await begin(caller, archive, options);
  expect(ticket.status).toBe(201);
  const put = await send(ticket.url, {
    method: 'PUT',
    headers: ticket.headers,
    body: new Uint8Array(archive),
  });
  expect(put.ok).toBe(true);
  return ticket;
}
