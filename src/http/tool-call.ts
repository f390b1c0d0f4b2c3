import { SkillError } from '../core/errors.ts';
import { sessionId } from '../core/ids.ts';
import type { SessionId } from '../core/ids.ts';
import { MAX_TOKEN_LIMIT } from '../core/limits.ts';
import * as z from '../core/zod.ts';

/** What a host says of the conversation that a tool is called in. */
export const contextSchema = z._default(
  z.strictObject({
    session_id: z.exactOptional(z.string()),
    agent_id: z.exactOptional(z.string()),
    request_id: z.exactOptional(z.string()),
  }),
  {},
);

/** The session of a call: session_id, else agent_id, else request_id (J16). @throws SkillError missing_session */
export function sessionOf(context: z.infer<typeof contextSchema>): SessionId {
  const id = context.session_id ?? context.agent_id ?? context.request_id;
  if (id === undefined) throw new SkillError('missing_session');
  return sessionId(id);
}

export const maxTokensSchema = z.int().check(z.minimum(1), z.maximum(MAX_TOKEN_LIMIT));
