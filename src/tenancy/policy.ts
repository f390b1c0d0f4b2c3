import type { ResourcePolicy } from '../core/limits.ts';

/** What a tenant may see and load. Roots: all own bundles in name order, then the built-in one. */
export interface TenantPolicy {
  readonly resources: ResourcePolicy;
  /** Ceiling and default for one load, in estimated tokens. */
  readonly maxTokens: number;
}
