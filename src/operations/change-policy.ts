import { SkillError } from '../core/errors.ts';
import type { BundleId } from '../core/ids.ts';
import type {
  DecidedRoot,
  DeploymentPolicy,
  PolicyInput,
  PolicyRoot,
  StoredPolicy,
} from '../core/policy/tenant-policy.ts';
import type { PolicyPlace } from '../tenancy/tenant-registry.ts';

export interface ChangePolicyInput {
  readonly policy: PolicyInput;
  /** Whether the state that is replaced is the one that the caller saw. */
  readonly precondition?: (current: StoredPolicy | undefined) => boolean;
  readonly decidedBy: string;
  readonly now: () => Date;
}

/** Others that decide at the same moment. */
const ATTEMPTS = 5;

/**
 * Replaces a tenant's policy. Who decided about a root, and when, is recorded and kept for as long as the decision
 * stays the same (J3). Values may only be tighter than the deployment's (J21).
 *
 * @throws SkillError invalid_request naming the place, revision_conflict (412 with a precondition)
 */
export async function changePolicy(
  place: PolicyPlace,
  deployment: DeploymentPolicy,
  input: ChangePolicyInput,
): Promise<StoredPolicy> {
  checkTighter(input.policy, deployment);
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const { policy: current, grants } = await place.read();
    if (input.precondition?.(current) === false) {
      throw new SkillError('revision_conflict', {
        detail: 'The policy was changed since it was read.',
        kind: 'precondition',
      });
    }
    checkRoots(input.policy.roots ?? [], grants);
    const at = input.now().toISOString();
    const { roots, ...others } = input.policy;
    const next: StoredPolicy = {
      ...others,
      ...(roots === undefined
        ? {}
        : { roots: roots.map((root) => decided(root, current, input.decidedBy, at)) }),
      version: (current?.version ?? 0) + 1,
      updated_by: input.decidedBy,
      updated_at: at,
    };
    if (await place.save(next, current?.version)) return next;
  }
  throw new SkillError('revision_conflict', { detail: 'The policy keeps being changed by somebody else.' });
}

function decided(root: PolicyRoot, current: StoredPolicy | undefined, by: string, at: string): DecidedRoot {
  const before = current?.roots?.find((one) => isSame(one, root) && one.trust === root.trust);
  return { ...root, decided_by: before?.decided_by ?? by, decided_at: before?.decided_at ?? at };
}

const isSame = (a: PolicyRoot, b: PolicyRoot): boolean => a.owner === b.owner && a.bundle === b.bundle;

function checkRoots(roots: readonly PolicyRoot[], grants: ReadonlyMap<BundleId, unknown>): void {
  roots.forEach((root, index) => {
    if (roots.findIndex((one) => isSame(one, root)) < index) {
      refuse(`roots.${index}`, `${root.owner}/${root.bundle} is in it twice`);
    }
    if (root.owner === 'shared' && root.trust && !grants.has(root.bundle)) {
      refuse(`roots.${index}`, `no bundle "${root.bundle}" is shared with this tenant`);
    }
  });
}

function checkTighter(policy: PolicyInput, deployment: DeploymentPolicy): void {
  const { binary, ...limits } = policy.resources ?? {};
  for (const [name, value] of Object.entries(limits)) {
    const limit = deployment.resources[name as keyof typeof limits];
    if (value > limit) refuse(`resources.${name}`, `${value} is above the ${limit} of this deployment`);
  }
  if (binary === 'allow' && deployment.resources.binary === 'reject') {
    refuse('resources.binary', 'this deployment rejects binary resources');
  }
  const { max_tokens } = policy;
  if (max_tokens === undefined) return;
  if (max_tokens < 1) refuse('max_tokens', 'less than 1');
  if (max_tokens > deployment.maxTokens) {
    refuse('max_tokens', `${max_tokens} is above the ${deployment.maxTokens} of this deployment`);
  }
}

function refuse(parameter: string, reason: string): never {
  throw new SkillError('invalid_request', { detail: `${parameter}: ${reason}.`, facts: { parameter } });
}
