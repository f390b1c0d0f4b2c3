import { randomUUID } from 'node:crypto';
import { Hono } from 'hono';
import { SkillError } from '../core/errors.ts';
import type { Logger } from '../log.ts';
import type { Principal } from '../tenancy/authenticate.ts';
import type { OperatorAccess } from '../tenancy/operator-access.ts';
import type { Caller } from '../tenancy/who-asks.ts';
import { authorize } from '../tenancy/who-asks.ts';
import type { TenantAccess } from '../tenancy/tenant-access.ts';
import type { Limiting } from './rate-limits.ts';
import { countRequest, holdRefused, tellRates } from './rate-limits.ts';
import { asSkillError, problemResponse } from './problem.ts';
import { renderedCache } from './rendered-cache.ts';
import { ROUTES } from './route-table.ts';
import type { AppContext, AppEnv, Route, Tools } from './route.ts';

export interface AppParts extends Limiting {
  readonly whoAsks: (authorization: string | undefined) => Promise<Caller>;
  readonly mint: (caller: Caller) => TenantAccess;
  readonly mintOperator: (principal: Principal) => OperatorAccess;
  readonly probe: () => Promise<void>;
  readonly logger: Logger;
  readonly mount?: (app: Hono<AppEnv>) => void;
}

/** The service (D2): the same on Lambda, on Node and in tests. */
export function createApp(parts: AppParts): Hono<AppEnv> {
  const app = new Hono<AppEnv>();
  const tools: Tools = { rendered: renderedCache(), probe: parts.probe };

  app.use('*', async function request(context: AppContext, next) {
    const started = performance.now();
    const requestId = acceptedRequestId(context.req.header('x-request-id')) ?? randomUUID();
    context.set('requestId', requestId);
    await next();
    tellRates(context.res.headers, context.get('rates'));
    logRequest(parts.logger, context, performance.now() - started);
    await holdRefused(parts, context.res);
  });

  parts.mount?.(app);
  for (const route of ROUTES) {
    app.on(route.method, route.path, async (context) => {
      context.set('route', route.path);
      return answer(context, route, parts, tools);
    });
  }
  for (const path of new Set(ROUTES.map((route) => route.path))) {
    const allow = allowedMethods(path);
    app.all(path, (context) => {
      context.set('route', path);
      throw new SkillError('invalid_request', {
        detail: `${context.req.method} is not one of ${allow}.`,
        kind: 'method',
        facts: { allow },
      });
    });
  }
  app.notFound(async (context) => {
    // Unknown paths are told only to those who may ask at all.
    try {
      const caller = await parts.whoAsks(context.req.header('authorization'));
      context.set('principal', caller.principal);
      await countRequest(parts, context, caller, undefined).noted;
      return refuse(parts.logger, context, new SkillError('not_found'));
    } catch (error) {
      return refuse(parts.logger, context, error);
    }
  });
  app.onError((error, context) => refuse(parts.logger, context, error));
  return app;
}

async function answer(context: AppContext, route: Route, parts: AppParts, tools: Tools): Promise<Response> {
  if (route.scope === 'public') return route.handle(context, tools);
  const caller = await parts.whoAsks(context.req.header('authorization'));
  context.set('principal', caller.principal);
  const { noted } = countRequest(parts, context, caller, route.scope === 'admin' ? undefined : route.counts);
  try {
    authorize(caller.principal, route.scope);
    checkPathEncoding(context);
    return await (route.scope === 'admin'
      ? route.handle(context, parts.mintOperator(caller.principal), tools)
      : route.handle(context, parts.mint(caller), tools));
  } finally {
    await noted;
  }
}

/** The router leaves broken escapes as they are; then one text could name two things. */
function checkPathEncoding(context: AppContext): void {
  if (!context.req.url.includes('%')) return;
  const path = new URL(context.req.url).pathname;
  try {
    decodeURIComponent(path);
  } catch (error) {
    if (!(error instanceof URIError)) throw error;
    throw new SkillError('invalid_request', {
      detail: 'The path is not valid percent-encoded UTF-8.',
      kind: 'malformed',
    });
  }
}

function refuse(logger: Logger, context: AppContext, thrown: unknown): Response {
  const error = asSkillError(thrown);
  context.set('code', error.code);
  if (error.kind === 'internal' || error.kind === 'unavailable') {
    logger.error({ request_id: context.get('requestId'), err: error.cause ?? error }, 'request failed');
  }
  return problemResponse(context, error);
}

function logRequest(logger: Logger, context: AppContext, milliseconds: number): void {
  const principal = context.get('principal');
  logger.info(
    {
      request_id: context.get('requestId'),
      tenant: principal?.tenant,
      key: principal?.id,
      method: context.req.method,
      route: context.get('route'),
      status: context.res.status,
      code: context.get('code'),
      ms: Math.round(milliseconds * 100) / 100,
    },
    'request',
  );
}

/** A caller's own id is kept when it cannot break a log or a header. */
function acceptedRequestId(header: string | undefined): string | undefined {
  return header !== undefined && /^[\x21-\x7e]{1,128}$/.test(header) ? header : undefined;
}

function allowedMethods(path: string): string {
  const methods = ROUTES.filter((route) => route.path === path).map((route) => route.method);
  return [...methods, ...(methods.includes('GET') ? ['HEAD'] : [])].join(', ');
}
