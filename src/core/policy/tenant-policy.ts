import type { BundleId } from '../ids.ts';
import { isBundleId } from '../ids.ts';
import type { ResourcePolicy } from '../limits.ts';
import * as z from '../zod.ts';

/** Bundles of the tenant itself, bundles that an operator granted to it, and what comes with the product. */
export const OWNERS = ['self', 'shared', 'builtin'] as const;
export type RootOwner = (typeof OWNERS)[number];

const bundleSchema = z.custom<BundleId>(
  (value) => typeof value === 'string' && isBundleId(value),
  'not a bundle name',
);

/** A root and the decision to trust it or not (contract, `/v1/policy`). */
export const policyRootSchema = z.strictObject({
  bundle: bundleSchema,
  owner: z._default(z.enum(OWNERS), 'self'),
  trust: z.boolean(),
});
export type PolicyRoot = z.infer<typeof policyRootSchema>;

const whole = z.int().check(z.minimum(1));
const words = z.array(z.string().check(z.minLength(1), z.maxLength(256))).check(z.maxLength(1_000));

/** Any of the limits of J21; a tenant names those that it wants tighter. */
export const resourceLimitsSchema = z.strictObject({
  max_resources: z.exactOptional(whole),
  max_depth: z.exactOptional(whole),
  max_directories: z.exactOptional(whole),
  max_listing_bytes: z.exactOptional(whole),
  max_file_bytes: z.exactOptional(whole),
  max_text_bytes: z.exactOptional(whole),
  binary: z.exactOptional(z.enum(['reject', 'allow'])),
});
export type ResourceLimits = z.infer<typeof resourceLimitsSchema>;

export const hiddenSchema = z.strictObject({
  names: z._default(words, []),
  tags: z._default(words, []),
  /** Whether skills stay hidden whose authors set `disable-model-invocation`. */
  disable_model_invocation: z._default(z.boolean(), true),
});
export type HiddenSkills = z.infer<typeof hiddenSchema>;

/** What a tenant decides. What it leaves out is the deployment's default. */
export const policySchema = z.strictObject({
  roots: z.exactOptional(z.array(policyRootSchema).check(z.maxLength(64))),
  resources: z.exactOptional(resourceLimitsSchema),
  max_tokens: z.exactOptional(z.int()),
  /** `strict` refuses lenient publishing, and leaves out roots that were published leniently. */
  validation: z.exactOptional(z.enum(['strict', 'lenient'])),
  hidden: z.exactOptional(hiddenSchema),
});
export type PolicyInput = z.infer<typeof policySchema>;

/** A root with who decided about it, and when (ISO 8601). */
export const decidedRootSchema = z.extend(policyRootSchema, {
  decided_by: z.string(),
  decided_at: z.string(),
});
export type DecidedRoot = z.infer<typeof decidedRootSchema>;

/** As stored: the input with its decisions recorded, and a version that rises with each change. */
export const storedPolicySchema = z.strictObject({
  ...policySchema.shape,
  roots: z.exactOptional(z.array(decidedRootSchema)),
  version: z.int(),
  updated_by: z.string(),
  updated_at: z.string(),
});
export type StoredPolicy = z.infer<typeof storedPolicySchema>;

/** What the deployment allows at the most. */
export interface DeploymentPolicy {
  readonly resources: ResourcePolicy;
  /** Ceiling and default for one load, in estimated tokens. */
  readonly maxTokens: number;
}

/** What holds for a tenant's requests: the tenant's values where they are tighter, else the deployment's. */
export interface TenantPolicy extends DeploymentPolicy {
  /** In order; undefined stands for all own bundles in name order, then the built-in one. */
  readonly roots: readonly DecidedRoot[] | undefined;
  readonly validation: 'strict' | 'lenient';
  readonly hidden: HiddenSkills;
}

/** Where a tenant has decided nothing. */
export const DEFAULT_RULES: Pick<TenantPolicy, 'hidden' | 'validation'> = {
  validation: 'lenient',
  hidden: { names: [], tags: [], disable_model_invocation: true },
};

/** The deployment may have become tighter since the tenant decided, so the tighter one is found anew. */
export function effectivePolicy(
  deployment: DeploymentPolicy,
  tenant: StoredPolicy | undefined,
): TenantPolicy {
  return {
    resources: tighter(deployment.resources, tenant?.resources),
    maxTokens: Math.min(deployment.maxTokens, tenant?.max_tokens ?? Infinity),
    roots: tenant?.roots,
    validation: tenant?.validation ?? DEFAULT_RULES.validation,
    hidden: tenant?.hidden ?? DEFAULT_RULES.hidden,
  };
}

function tighter(deployment: ResourcePolicy, tenant: ResourceLimits | undefined): ResourcePolicy {
  if (tenant === undefined) return deployment;
  const least = (name: Exclude<keyof ResourcePolicy, 'binary'>) =>
    Math.min(deployment[name], tenant[name] ?? Infinity);
  return {
    max_resources: least('max_resources'),
    max_depth: least('max_depth'),
    max_directories: least('max_directories'),
    max_listing_bytes: least('max_listing_bytes'),
    max_file_bytes: least('max_file_bytes'),
    max_text_bytes: least('max_text_bytes'),
    binary: tenant.binary === 'reject' ? 'reject' : deployment.binary,
  };
}
