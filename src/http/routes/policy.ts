import { canonicalJson } from '../../core/canonical-json.ts';
import { sha256 } from '../../core/digests.ts';
import type { DeploymentPolicy, StoredPolicy } from '../../core/policy/tenant-policy.ts';
import { effectivePolicy, policySchema } from '../../core/policy/tenant-policy.ts';
import type { RootDecision } from '../../core/policy/roots.ts';
import { readJson } from '../body.ts';
import { text, readQuery } from '../query.ts';
import { etagOf, sendJson, sendJsonWithEtag } from '../respond.ts';
import type { AppContext, TenantRoute } from '../route.ts';
import * as z from '../../core/zod.ts';
import { SkillError } from '../../core/errors.ts';

/** What an answer tells beside the policy itself; sent back, it is passed over. */
const TOLD = ['version', 'updated_by', 'updated_at', 'deployment'];
const TOLD_OF_ROOT = ['state', 'decided_by', 'decided_at'];

/** A policy as a caller makes it, or as it was answered and changed. */
export const POLICY_BODY = z.pipe(
  z.pipe(
    z.record(z.string(), z.unknown()),
    z.transform((given) => {
      const policy = without(given, TOLD);
      const roots = policy['roots'];
      return Array.isArray(roots) ? { ...policy, roots: roots.map(withoutToldOfRoot) } : policy;
    }),
  ),
  policySchema,
);

function withoutToldOfRoot(root: unknown): unknown {
  return typeof root === 'object' && root !== null ? without(root, TOLD_OF_ROOT) : root;
}

function without(from: object, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(from).filter(([name]) => !names.includes(name)));
}

const EXPLAIN_QUERY = z.object({ skill: text });

export const policyRoute: TenantRoute = {
  method: 'GET',
  path: '/v1/policy',
  scope: 'policy:write',
  summary: 'The policy that holds: roots with their decisions, limits, what is hidden',
  async handle(context, access) {
    const roots = await access.roots();
    const { policy, decided, deployment } = access;
    return sendJsonWithEtag(context, policyEtag(decided, roots), () =>
      policyBody({ policy, decided, deployment, roots }),
    );
  },
};

export const changePolicyRoute: TenantRoute = {
  method: 'PUT',
  path: '/v1/policy',
  scope: 'policy:write',
  summary: 'Replaces the policy; values may only be tighter than those of the deployment',
  async handle(context, access) {
    const policy = await readJson(context, POLICY_BODY);
    const precondition = policyPrecondition(context);
    const { changePolicy } = await import('../../operations/change-policy.ts');
    const decided = await changePolicy(access.policyPlace, access.deployment, {
      policy,
      ...(precondition === undefined ? {} : { precondition }),
      decidedBy: access.principal.id,
      now: access.now,
    });
    access.changed();
    return sendJson(
      context,
      policyBody({
        policy: effectivePolicy(access.deployment, decided),
        decided,
        deployment: access.deployment,
        roots: undefined,
      }),
    );
  },
};

export const explainPolicyRoute: TenantRoute = {
  method: 'GET',
  path: '/v1/policy/explain',
  scope: 'policy:write',
  summary: 'Which rule decides whether agents see a skill, and why',
  async handle(context, access) {
    const { skill } = readQuery(context, EXPLAIN_QUERY);
    if (skill === undefined) {
      throw new SkillError('invalid_request', { detail: 'skill: missing.', facts: { parameter: 'skill' } });
    }
    const { explainPolicy } = await import('../../operations/explain-policy.ts');
    return sendJson(context, await explainPolicy(access, skill));
  },
};

/** If-Match names the policy to replace, by the ETag that it was answered with. */
export function policyPrecondition(
  context: AppContext,
): ((current: StoredPolicy | undefined) => boolean) | undefined {
  const ifMatch = context.req.header('if-match');
  if (ifMatch === undefined) return undefined;
  const version = /^"\d+-policy-(\d+)-/.exec(ifMatch.trim())?.[1];
  return (current) =>
    ifMatch.trim() === '*' ? current !== undefined : version === String(current?.version ?? 0);
}

/** What becomes of a root can change without the policy. */
export const policyEtag = (decided: StoredPolicy | undefined, roots: readonly RootDecision[]): string =>
  etagOf('policy', decided?.version ?? 0, sha256(canonicalJson(roots)));

/** The policy as answered: what holds, what of it was decided by whom, and what the deployment allows. */
export function policyBody(parts: {
  readonly policy: ReturnType<typeof effectivePolicy>;
  readonly decided: StoredPolicy | undefined;
  readonly deployment: DeploymentPolicy;
  /** Undefined where only what was decided is known. */
  readonly roots: readonly RootDecision[] | undefined;
}): object {
  const { policy, decided, deployment } = parts;
  const roots =
    parts.roots?.map((root) => ({
      bundle: root.bundle,
      owner: root.owner,
      trust: root.state !== 'untrusted',
      state: root.state,
      ...(root.decided === undefined ? {} : { decided_by: root.decided.by, decided_at: root.decided.at }),
    })) ?? policy.roots;
  return {
    ...(roots === undefined ? {} : { roots }),
    resources: policy.resources,
    max_tokens: policy.maxTokens,
    validation: policy.validation,
    hidden: policy.hidden,
    version: decided?.version ?? 0,
    ...(decided === undefined ? {} : { updated_by: decided.updated_by, updated_at: decided.updated_at }),
    deployment: { resources: deployment.resources, max_tokens: deployment.maxTokens },
  };
}
