import type { Activation } from '../core/activation/activation.ts';
import { SkillError } from '../core/errors.ts';
import type { Listing } from '../core/resources/listing.ts';
import { hidingRule } from '../core/policy/hidden.ts';
import { authorizeListing } from '../core/resources/listing.ts';
import type { SkillSource } from '../sources/source.ts';
import type { TenantAccess } from '../tenancy/tenant-access.ts';

/** The listing that an activation was given: stored with it, or derived again from its digest and policy. */
export async function listingOf(source: SkillSource, activation: Activation): Promise<Listing> {
  if (activation.listing !== undefined) return activation.listing;
  const files = await source.files(activation.skill_digest);
  return authorizeListing(files, activation.skill_md.path, activation.policy);
}

/** Where an activation's bytes are; undefined when its root was withdrawn, or the policy does not allow it any more. */
export function sourceOf(access: TenantAccess, activation: Activation): SkillSource | undefined {
  const { hidden, validation } = access.policy;
  if (hidingRule(hidden, { ...activation, name: activation.skill }) !== undefined) return undefined;
  if (validation === 'strict' && activation.mode !== 'strict') return undefined;
  return access.source({ owner: activation.owner, bundle: activation.bundle });
}

/** The same. @throws SkillError skill_not_found, which tells the session that holds it */
export function mustSource(access: TenantAccess, activation: Activation): SkillSource {
  const source = sourceOf(access, activation);
  if (source !== undefined) return source;
  throw new SkillError('skill_not_found', {
    detail: `The skill "${activation.skill}" was removed since this session loaded it.`,
  });
}
