import type { Context } from 'hono';
import type { RenderedCache } from './rendered-cache.ts';
import type { RateKind } from '../core/rate-limit.ts';
import type { RateState } from '../tenancy/rate-limiter.ts';
import type { Principal } from '../tenancy/authenticate.ts';
import type { Scope } from '../tenancy/credential-store.ts';
import type { OperatorAccess } from '../tenancy/operator-access.ts';
import type { TenantAccess } from '../tenancy/tenant-access.ts';

export interface AppEnv {
  Variables: {
    requestId: string;
    /** The route's pattern, for logs: a path can hold a caller's words. */
    route: string | undefined;
    principal: Principal | undefined;
    /** The code of a refusal, for logs. */
    code: string | undefined;
    /** What the answer tells of the tenant's limits. */
    rates: readonly RateState[] | undefined;
  };
}
export type AppContext = Context<AppEnv>;

export interface Tools {
  readonly rendered: RenderedCache;
  /** Throws when a backing store does not answer. */
  readonly probe: () => Promise<void>;
}

interface RouteBase {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly summary: string;
}

/** Needs a credential with the scope; gets what its tenant may touch. */
export interface TenantRoute extends RouteBase {
  readonly scope: Exclude<Scope, 'admin'>;
  /** What it counts as beside a request. */
  readonly counts?: Exclude<RateKind, 'requests'>;
  handle(context: AppContext, access: TenantAccess, tools: Tools): Response | Promise<Response>;
}

/** Needs an operator's credential; gets what an operator may touch. */
export interface OperatorRoute extends RouteBase {
  readonly scope: 'admin';
  handle(context: AppContext, access: OperatorAccess, tools: Tools): Response | Promise<Response>;
}

/** The few routes without a credential. */
export interface PublicRoute extends RouteBase {
  readonly scope: 'public';
  handle(context: AppContext, tools: Tools): Response | Promise<Response>;
}

export type Route = TenantRoute | OperatorRoute | PublicRoute;
