import { SkillError } from '../core/errors.ts';
import { bundleId, isSkillName, sessionId } from '../core/ids.ts';
import type { BundleId, SessionId, SkillName } from '../core/ids.ts';
import type { AppContext } from './route.ts';

/** A path parameter, percent-decoded once. */
export function pathParameter(context: AppContext, name: string): string {
  return context.req.param(name) ?? '';
}

export function bundleParameter(context: AppContext): BundleId {
  return bundleId(pathParameter(context, 'bundle'));
}

export function sessionParameter(context: AppContext): SessionId {
  return sessionId(pathParameter(context, 'session'));
}

/** A skill that is asked for: a name that none can have is one that is not there. */
export function existingName(name: string): SkillName {
  if (isSkillName(name)) return name;
  throw new SkillError('skill_not_found', {
    detail: `There is no skill ${JSON.stringify(name.slice(0, 80))}.`,
  });
}
