import { withoutHidden } from '../core/catalog/catalog.ts';
import type { Revision } from '../core/manifest/manifest.ts';
import { hidingRule } from '../core/policy/hidden.ts';
import type { TenantAccess } from '../tenancy/tenant-access.ts';

/**
 * A revision as the caller may see it: what the policy hides is hidden from agents here too. Whoever publishes or
 * decides the policy sees everything. The same object when nothing is left out.
 */
export function shownRevision<Shown extends Revision>(access: TenantAccess, revision: Shown): Shown {
  const { scopes } = access.principal;
  if (scopes.includes('bundles:write') || scopes.includes('policy:write')) return revision;
  const hidden = revision.skills.filter((entry) => hidingRule(access.policy.hidden, entry) !== undefined);
  if (hidden.length === 0) return revision;
  return {
    ...revision,
    skills: revision.skills.filter((entry) => !hidden.includes(entry)),
    findings: [...withoutHidden(revision.findings, hidden)],
  };
}
