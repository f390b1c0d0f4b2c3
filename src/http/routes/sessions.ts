import type { Activation } from '../../core/activation/activation.ts';
import { locationOf } from '../../core/catalog/catalog.ts';
import { sourceOf } from '../../operations/activated.ts';
import type { TenantAccess } from '../../tenancy/tenant-access.ts';
import { existingName, pathParameter, sessionParameter } from '../parameters.ts';
import { sendJson, sendNothing } from '../respond.ts';
import type { TenantRoute } from '../route.ts';

export const listActivationsRoute: TenantRoute = {
  method: 'GET',
  path: '/v1/sessions/:session/activations',
  scope: 'skills:load',
  summary: 'Skills that are active in a session',
  async handle(context, access) {
    const activations = await access.activations.list(sessionParameter(context));
    return sendJson(context, { activations: activations.map((one) => summary(access, one)) });
  },
};

export const releaseActivationRoute: TenantRoute = {
  method: 'DELETE',
  path: '/v1/sessions/:session/activations/:skill',
  scope: 'skills:load',
  summary: 'Releases one skill from a session; idempotent',
  async handle(context, access) {
    await access.activations.release(
      sessionParameter(context),
      existingName(pathParameter(context, 'skill')),
    );
    return sendNothing(context);
  },
};

export const releaseSessionRoute: TenantRoute = {
  method: 'DELETE',
  path: '/v1/sessions/:session',
  scope: 'skills:load',
  summary: 'Releases everything from a session; idempotent',
  async handle(context, access) {
    await access.activations.release(sessionParameter(context));
    return sendNothing(context);
  },
};

function summary(access: TenantAccess, activation: Activation): object {
  return {
    name: activation.skill,
    session_id: activation.session_id,
    root_dir: locationOf({ owner: activation.owner, bundle: activation.bundle }, activation),
    bundle: activation.bundle,
    revision: activation.revision,
    skill_digest: activation.skill_digest,
    activated_at: activation.activated_at,
    expires_at: new Date(activation.expires_at * 1000).toISOString(),
    // False once it was withdrawn or the policy does not allow it any more: release it.
    available: sourceOf(access, activation) !== undefined,
  };
}
