import { SkillError } from '../core/errors.ts';
import type { ValidationMode } from '../core/format/skill-document.ts';
import type { TenantAccess } from '../tenancy/tenant-access.ts';

/** @throws SkillError forbidden when the tenant's policy takes strictly validated bundles only */
export function checkAllowedMode(access: Pick<TenantAccess, 'policy'>, mode: ValidationMode): void {
  if (mode === 'strict' || access.policy.validation !== 'strict') return;
  throw new SkillError('forbidden', {
    detail: 'The policy of this tenant takes strictly validated bundles only; publish with mode=strict.',
  });
}
