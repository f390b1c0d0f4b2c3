import type { BundleId } from '../core/ids.ts';
import type { SkillEntry } from '../core/manifest/manifest.ts';
import { hidingRule } from '../core/policy/hidden.ts';
import type { RootDecision } from '../core/policy/roots.ts';
import type { TenantAccess } from '../tenancy/tenant-access.ts';

/** What decided about a name. */
export type DecidingRule =
  | 'trusted_root'
  | 'hidden_name'
  | 'hidden_tag'
  | 'disable_model_invocation'
  | 'untrusted_root'
  | 'not_granted'
  | 'published_leniently'
  | 'no_such_skill';

interface ConsideredRoot {
  readonly bundle: string;
  readonly owner: string;
  readonly state: RootDecision['state'] | 'published_leniently';
  readonly has_skill: boolean;
  readonly decided_by?: string;
  readonly decided_at?: string;
}

export interface Explanation {
  readonly skill: string;
  /** Whether the tenant's agents see it. */
  readonly visible: boolean;
  readonly rule: DecidingRule;
  /** The same as a sentence. */
  readonly reason: string;
  /** Every root in order, with who decided about it and when. */
  readonly roots: readonly ConsideredRoot[];
}

interface Considered extends ConsideredRoot {
  readonly entry: SkillEntry | undefined;
}

/** Says which rule decides whether a tenant's agents see a skill, and why. */
export async function explainPolicy(access: TenantAccess, skill: string): Promise<Explanation> {
  const considered = await Promise.all(
    (await access.roots()).map((root) => considerRoot(access, root, skill)),
  );
  const roots = considered.map(({ entry, ...root }) => ({ ...root, has_skill: entry !== undefined }));
  return { skill, ...decide(access, skill, considered), roots };
}

function decide(
  access: TenantAccess,
  skill: string,
  considered: readonly Considered[],
): Pick<Explanation, 'visible' | 'rule' | 'reason'> {
  const having = considered.filter(({ entry }) => entry !== undefined);
  const winner = having.find(({ state }) => state === 'used');
  if (winner?.entry !== undefined) {
    const place = `${winner.owner}/${winner.bundle}`;
    const hiding = hidingRule(access.policy.hidden, winner.entry);
    if (hiding === undefined) {
      const others = having.length === 1 ? '' : `, before ${having.length - 1} other`;
      return {
        visible: true,
        rule: 'trusted_root',
        reason: `It comes from ${place}, the first trusted root with that name${others}.`,
      };
    }
    return {
      visible: false,
      rule: hiding.rule,
      reason: `${place} has it, and ${HIDDEN_BECAUSE[hiding.rule]} hides it.`,
    };
  }
  const [loser] = having;
  if (loser === undefined) {
    const withdrawn = considered.find(({ state }) => state === 'not_granted');
    return withdrawn === undefined
      ? { visible: false, rule: 'no_such_skill', reason: `No root has a skill "${skill}".` }
      : {
          visible: false,
          rule: 'not_granted',
          reason: `No root has a skill "${skill}"; shared/${withdrawn.bundle} is not shared with this tenant.`,
        };
  }
  const place = `${loser.owner}/${loser.bundle}`;
  return loser.state === 'published_leniently'
    ? {
        visible: false,
        rule: 'published_leniently',
        reason: `${place} has it, and was published leniently; the policy takes strict ones.`,
      }
    : {
        visible: false,
        rule: 'untrusted_root',
        reason: `${place} has it, and the policy does not trust that root.`,
      };
}

const HIDDEN_BECAUSE = {
  hidden_name: 'its name in hidden.names',
  hidden_tag: 'one of its tags in hidden.tags',
  disable_model_invocation: "its author's disable-model-invocation",
} as const;

async function considerRoot(access: TenantAccess, root: RootDecision, skill: string): Promise<Considered> {
  const own = root.owner === 'self' ? await access.bundle(root.bundle as BundleId) : undefined;
  const snapshot =
    root.owner === 'self'
      ? own?.snapshot
      : await access.source({ owner: root.owner, bundle: root.bundle })?.discover();
  const isLenient = access.policy.validation === 'strict' && snapshot?.mode === 'lenient';
  // Publishing to one's own bundle is the decision to trust it, where no policy says otherwise.
  const decided =
    root.decided ??
    (own === undefined ? undefined : { by: own.manifest.published_by, at: own.manifest.published_at });
  return {
    bundle: root.bundle,
    owner: root.owner,
    state: root.state === 'used' && isLenient ? 'published_leniently' : root.state,
    has_skill: false,
    ...(decided === undefined ? {} : { decided_by: decided.by, decided_at: decided.at }),
    entry: snapshot?.skills.find(({ name }) => name === skill),
  };
}
