import * as z from 'zod';
import { SkillError } from '../core/errors.ts';
import { sessionId } from '../core/ids.ts';
import type { SessionId } from '../core/ids.ts';
import { MAX_TOKEN_LIMIT } from '../core/limits.ts';

/** What a host says of the conversation that a tool is called in. */
export const contextSchema = z
  .strictObject({
    session_id: z.string().exactOptional(),
    agent_id: z.string().exactOptional(),
    request_id: z.string().exactOptional(),
  })
  .default({});

/** The session of a call: session_id, else agent_id, else request_id (J16). @throws SkillError missing_session */
export function sessionOf(context: z.infer<typeof contextSchema>): SessionId {
  const id = context.session_id ?? context.agent_id ?? context.request_id;
  if (id === undefined) throw new SkillError('missing_session');
  return sessionId(id);
}

export const maxTokensSchema = z.number().int().min(1).max(MAX_TOKEN_LIMIT);
