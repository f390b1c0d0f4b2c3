import { sendJson } from '../respond.ts';
import type { PublicRoute } from '../route.ts';

export const healthRoute: PublicRoute = {
  method: 'GET',
  path: '/healthz',
  scope: 'public',
  summary: 'Whether the process answers',
  handle: (context) => sendJson(context, { status: 'ok' }),
};

export const readyRoute: PublicRoute = {
  method: 'GET',
  path: '/readyz',
  scope: 'public',
  summary: 'Whether bucket and table answer',
  async handle(context, { probe }) {
    await probe();
    return sendJson(context, { status: 'ready' });
  },
};
