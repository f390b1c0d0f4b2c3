import { activationSchema, isExpired } from '../core/activation/activation.ts';
import type { Activation } from '../core/activation/activation.ts';
import { SkillError } from '../core/errors.ts';
import type { TenantId } from '../core/ids.ts';
import { activationKey, sessionPartition } from '../core/table-keys.ts';
import type { Condition, Item, Table } from '../storage/table.ts';
import type { ActivationStore } from './activation-store.ts';

/** An item that another loader keeps replacing is contention beyond reason. */
const ATTEMPTS = 5;

export function dynamoActivationStore(
  table: Table,
  tenant: TenantId,
  nowSeconds: () => number,
): ActivationStore {
  const live = (item: Item | undefined): Activation | undefined => {
    if (item === undefined) return undefined;
    const activation = fromItem(item);
    return isExpired(activation, nowSeconds()) ? undefined : activation;
  };

  return {
    async begin(activation) {
      const key = activationKey(tenant, activation.session_id, activation.skill);
      for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
        const outcome = await table.put(key, toItem(activation), absentOrExpired(nowSeconds()));
        if (outcome === 'stored') return 'begun';
        const standing = live(outcome.found);
        if (standing !== undefined) return standing;
        // It was released or it expired between the two steps.
      }
      throw new SkillError('unavailable', { detail: 'The session changes too quickly.' });
    },

    async find(session, skill) {
      return live(await table.get(activationKey(tenant, session, skill)));
    },

    async list(session) {
      const activations: Activation[] = [];
      for await (const item of table.query(sessionPartition(tenant, session))) {
        const activation = live(item);
        if (activation !== undefined) activations.push(activation);
      }
      return activations;
    },

    async renew(activation, expiresAt) {
      await table.set(
        activationKey(tenant, activation.session_id, activation.skill),
        { expires_at: expiresAt },
        sameAndLive(activation.activated_at, nowSeconds()),
      );
    },

    async release(session, skill, activatedAt) {
      if (skill !== undefined) {
        const condition = activatedAt === undefined ? undefined : sameActivation(activatedAt);
        await table.delete(activationKey(tenant, session, skill), condition);
        return;
      }
      const keys: { pk: string; sk: string }[] = [];
      for await (const item of table.query(sessionPartition(tenant, session))) {
        keys.push({ pk: String(item['pk']), sk: String(item['sk']) });
      }
      await Promise.all(keys.map((key) => table.delete(key)));
    },
  };
}

/**
 * When a new activation may take the place, over the life of an item:
 *
 *   (no item) ──begin──> expires_at in the future ──time──> expires_at passed ──TTL, hours to days──> (no item)
 *     may                     may not                          may                                       may
 */
function absentOrExpired(now: number): Condition {
  return { expression: 'attribute_not_exists(pk) OR expires_at <= :now', values: { ':now': now } };
}

/** The item is still the activation that the caller saw, not a later one of the same skill. */
function sameActivation(activatedAt: string): Condition {
  return { expression: 'activated_at = :activated_at', values: { ':activated_at': activatedAt } };
}

/** What expired is absent, so a renewal that comes too late does not bring it back. */
function sameAndLive(activatedAt: string, now: number): Condition {
  const { expression, values } = sameActivation(activatedAt);
  return { expression: `${expression} AND expires_at > :now`, values: { ...values, ':now': now } };
}

/** `expires_at` and `activated_at` are attributes for conditions and TTL; the rest is one document. */
function toItem(activation: Activation): Item {
  const { expires_at, activated_at, ...document } = activation;
  return { expires_at, activated_at, document: JSON.stringify(document) };
}

function fromItem(item: Item): Activation {
  const document = JSON.parse(String(item['document'])) as object;
  return activationSchema.parse({
    ...document,
    expires_at: item['expires_at'],
    activated_at: item['activated_at'],
  });
}
