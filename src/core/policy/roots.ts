import { finding } from '../errors.ts';
import type { Finding } from '../errors.ts';
import type { BundleId } from '../ids.ts';
import type { DecidedRoot, RootOwner } from './tenant-policy.ts';

/** What becomes of a root of a tenant. */
export interface RootDecision {
  readonly bundle: string;
  readonly owner: RootOwner;
  readonly state: 'used' | 'untrusted' | 'missing' | 'not_granted';
  /** Undefined where no policy decides: publishing to one's own bundle is the decision then. */
  readonly decided?: { readonly by: string; readonly at: string };
}

export interface KnownRoots {
  /** Names of the tenant's own bundles, in order. */
  readonly own: readonly BundleId[];
  readonly granted: ReadonlySet<string> | ReadonlyMap<string, unknown>;
  /** The name of the bundle that comes with the product. */
  readonly builtin: string;
}

/** A tenant's roots in their order, with those that are left out (J3). By default all own bundles, then the built-in one. */
export function decideRoots(roots: readonly DecidedRoot[] | undefined, known: KnownRoots): RootDecision[] {
  if (roots === undefined) {
    return [
      ...known.own.map((bundle) => ({ bundle, owner: 'self', state: 'used' }) as const),
      { bundle: known.builtin, owner: 'builtin', state: 'used' },
    ];
  }
  return roots.map((root) => ({
    bundle: root.bundle,
    owner: root.owner,
    state: stateOf(root, known),
    decided: { by: root.decided_by, at: root.decided_at },
  }));
}

function stateOf(root: DecidedRoot, known: KnownRoots): RootDecision['state'] {
  if (!root.trust) return 'untrusted';
  if (root.owner === 'shared') return known.granted.has(root.bundle) ? 'used' : 'not_granted';
  if (root.owner === 'builtin') return root.bundle === known.builtin ? 'used' : 'missing';
  return known.own.includes(root.bundle) ? 'used' : 'missing';
}

const WHY: Readonly<Record<Exclude<RootDecision['state'], 'used'>, string>> = {
  untrusted: 'is not trusted and is left out',
  missing: 'is a root of the policy, and there is no such bundle',
  not_granted: 'is a root of the policy, and is not shared with this tenant',
};

/** The diagnostics of the roots that are left out. */
export function rootFindings(decisions: readonly RootDecision[]): Finding[] {
  return decisions.flatMap(({ state, owner, bundle }) => {
    if (state === 'used') return [];
    const file = `${owner}/${bundle}`;
    const code = state === 'untrusted' ? 'untrusted_skill_path' : 'not_found';
    const fix = 'Change the roots of the policy (PUT /v1/policy).';
    return [finding('warning', code, `${file} ${WHY[state]}.`, { file, fix })];
  });
}
