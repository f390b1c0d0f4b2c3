import type { Activation } from '../core/activation/activation.ts';
import type { RootRef } from '../core/catalog/catalog.ts';
import { SkillError } from '../core/errors.ts';
import type { Listing } from '../core/resources/listing.ts';
import { authorizeListing } from '../core/resources/listing.ts';
import type { SkillSource } from '../sources/source.ts';
import type { TenantAccess } from '../tenancy/tenant-access.ts';

/** The listing that an activation was given: stored with it, or derived again from its digest and policy. */
export async function listingOf(source: SkillSource, activation: Activation): Promise<Listing> {
  if (activation.listing !== undefined) return activation.listing;
  const files = await source.files(activation.skill_digest);
  return authorizeListing(files, activation.skill_md.path, activation.policy);
}

/** @throws SkillError skill_not_found when the tenant may no longer read the root */
export function sourceOf(access: TenantAccess, root: RootRef): SkillSource {
  const source = access.source(root);
  if (source !== undefined) return source;
  throw new SkillError('skill_not_found', {
    detail: 'The bundle that held the skill is no longer available.',
  });
}
