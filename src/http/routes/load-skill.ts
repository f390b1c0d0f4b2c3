import { bundleId, isDigest } from '../../core/ids.ts';
import type { Digest } from '../../core/ids.ts';
import { readJson } from '../body.ts';
import { existingName } from '../parameters.ts';
import { sendBytes, sendJson, wantsBytes } from '../respond.ts';
import type { TenantRoute } from '../route.ts';
import { contextSchema, maxTokensSchema, sessionOf } from '../tool-call.ts';
import * as z from '../../core/zod.ts';

const BODY = z.strictObject({
  name: z.string(),
  context: contextSchema,
  force: z._default(z.boolean(), false),
  max_tokens: z.exactOptional(maxTokensSchema),
  bundles: z.exactOptional(z.array(z.string()).check(z.minLength(1), z.maxLength(32))),
  trust: z._default(z.boolean(), false),
  digest: z.exactOptional(
    z.custom<Digest>((value) => typeof value === 'string' && isDigest(value), 'not a digest'),
  ),
});

export const loadSkillRoute: TenantRoute = {
  method: 'POST',
  path: '/v1/tools/load_skill',
  scope: 'skills:load',
  counts: 'loads',
  summary: 'Activates a skill in a session: instructions and the list of its resources',
  async handle(context, access) {
    const body = await readJson(context, BODY);
    const session = sessionOf(body.context);
    // It validates, so it brings the YAML parser along, which listing does without.
    const { loadSkill } = await import('../../operations/load-skill.ts');
    const loaded = await loadSkill(access, {
      name: existingName(body.name),
      session,
      force: body.force,
      maxTokens: body.max_tokens ?? access.policy.maxTokens,
      ...(body.bundles === undefined ? {} : { bundles: body.bundles.map(bundleId) }),
      trust: body.trust,
      ...(body.digest === undefined ? {} : { digest: body.digest }),
    });
    return wantsBytes(context) ? sendBytes(context, loaded.skillMd) : sendJson(context, loaded.result);
  },
};
