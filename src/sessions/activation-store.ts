import type { Activation } from '../core/activation/activation.ts';
import type { SessionId, SkillName } from '../core/ids.ts';

/** The port to one tenant's activations. An expired activation is absent, whether it was deleted yet or not. */
export interface ActivationStore {
  /** Records it if there is none: `"begun"`; else answers the one that stands. Of several at once one begins. */
  begin(activation: Activation): Promise<'begun' | Activation>;
  find(session: SessionId, skill: SkillName): Promise<Activation | undefined>;
  list(session: SessionId): Promise<readonly Activation[]>;
  /** Moves the end of this very activation; nothing happens when it is gone. */
  renew(activation: Activation, expiresAt: number): Promise<void>;
  /** Ends one activation (only the very one, when its start is given) or all of a session. Idempotent. */
  release(session: SessionId, skill?: SkillName, activatedAt?: string): Promise<void>;
}
