import type { Hono } from 'hono';
import type { AppEnv } from '../../src/http/route.ts';

/** A tenant's client of an app in this process: requests go through the whole HTTP stack of Hono. */
export interface Caller {
  get(path: string, headers?: Record<string, string>): Promise<Response>;
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Response>;
  put(path: string, body: Uint8Array, headers?: Record<string, string>): Promise<Response>;
  delete(path: string): Promise<Response>;
  request(path: string, init: RequestInit): Promise<Response>;
}

export function callerOf(app: Hono<AppEnv>, key: string): Caller {
  return callerBy(async (path, init) => {
    const headers = new Headers(init.headers);
    headers.set('authorization', `Bearer ${key}`);
    return app.request(`http://service.test${path}`, { ...init, headers });
  });
}

/** A client by whatever brings a request to the service. */
export function callerBy(request: Caller['request']): Caller {
  return {
    request,
    get: (path, headers = {}) => request(path, { headers }),
    post: (path, body, headers = {}) =>
      request(path, { method: 'POST', body: JSON.stringify(body), headers }),
    put: (path, body, headers = {}) => request(path, { method: 'PUT', body: new Uint8Array(body), headers }),
    delete: (path) => request(path, { method: 'DELETE' }),
  };
}

/** The parsed JSON of an answer, for assertions by shape. */
export async function json(response: Response): Promise<Record<string, unknown>> {
  return (await response.json()) as Record<string, unknown>;
}
