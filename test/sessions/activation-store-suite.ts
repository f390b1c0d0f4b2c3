import { describe, expect, test } from 'vitest';
import type { Activation } from '../../src/core/activation/activation.ts';
import { DEFAULT_RESOURCE_POLICY } from '../../src/core/limits.ts';
import type { Digest, SessionId, SkillName, TenantId } from '../../src/core/ids.ts';
import { sessionId, skillName, tenantId } from '../../src/core/ids.ts';
import type { ActivationStore } from '../../src/sessions/activation-store.ts';

/** Where activations are kept; a store is one tenant's handle to it. */
export interface Place {
  /** A new handle, as another request in another process would get. */
  storeOf(tenant: TenantId): ActivationStore;
  /** The place's clock, in epoch seconds. */
  setNow(seconds: number): void;
}

const NOW = 1_800_000_000;
const TTL = 3_600;
const ACME = tenantId('acme');
const GLOBEX = tenantId('globex');
const SESSION = sessionId('session-1');
const REPORT = skillName('report');

const ODD_SESSIONS: readonly string[] = [
  'a',
  'a#b',
  'a#b#c',
  'a/b',
  '#',
  'session#skill#report',
  '../other',
  ' ',
  ' a ',
  'A',
  '😀',
  '😁',
  'x'.repeat(256),
  '😀'.repeat(256),
  '\u0000',
  'é',
  'e\u0301',
  'YQ',
  'YQ==',
];

/** What every `ActivationStore` owes (D3, J16). */
export function activationStoreContract(name: string, openPlace: () => Place): void {
  /** An empty place and a handle of acme's, with the clock at NOW. */
  const open = (): { place: Place; store: ActivationStore } => {
    const place = openPlace();
    place.setNow(NOW);
    return { place, store: place.storeOf(ACME) };
  };

  describe(`${name}: an activation`, () => {
    test('[D3] begins once, and is found by every other process as it was', async () => {
      const { place, store } = open();
      expect(await store.find(SESSION, REPORT)).toBeUndefined();
      const first = activation();
      expect(await store.begin(first)).toBe('begun');
      expect(await place.storeOf(ACME).find(SESSION, REPORT)).toEqual(first);
      const second = activation({ activated_at: at(1), revision: 2, expires_at: NOW + 9 });
      expect(await place.storeOf(ACME).begin(second)).toEqual(first);
      expect(await store.find(SESSION, REPORT)).toEqual(first);
    });

    test('[D3] of 20 that begin at once exactly one begins, and all are told the same', async () => {
      const { place, store } = open();
      for (const session of ['race 1', 'race 2', 'race 3'].map(sessionId)) {
        const all = Array.from({ length: 20 }, (_, index) =>
          activation({ session_id: session, activated_at: at(index), revision: index + 1 }),
        );
        const outcomes = await Promise.all(all.map((one) => place.storeOf(ACME).begin(one)));
        const begun = all.filter((_, index) => outcomes[index] === 'begun');
        expect(begun).toHaveLength(1);
        expect(await store.find(session, REPORT)).toEqual(begun[0]);
        for (const outcome of outcomes) if (outcome !== 'begun') expect(outcome).toEqual(begun[0]);
      }
    });

    test('[D3] keeps its authorized listing, and one without a listing has none', async () => {
      const { store } = open();
      const entries = Array.from({ length: 60 }, (_, index) => ({
        relative_path: `references/ünï ${index}.md`,
        name: `ünï ${index}.md`,
        size: index,
        type: 'reference' as const,
        mime_type: 'text/markdown',
        digest: digestOf(index),
      }));
      const listed = activation({ listing: { entries, truncation_reasons: ['max_depth'] } });
      const empty = activation({
        skill: skillName('empty'),
        listing: { entries: [], truncation_reasons: [] },
      });
      // Too large for an item: the listing follows from the skill's digest.
      const large = activation({ skill: skillName('large') }, ['listing']);
      for (const one of [listed, empty, large]) expect(await store.begin(one)).toBe('begun');
      expect(await store.find(SESSION, REPORT)).toEqual(listed);
      expect(await store.find(SESSION, skillName('empty'))).toEqual(empty);
      const found = await store.find(SESSION, skillName('large'));
      expect(found).toEqual(large);
      expect(found).not.toHaveProperty('listing');
    });
  });

  describe(`${name}: expiry`, () => {
    test('[D3] an expired activation is absent, deleted or not, and may be replaced', async () => {
      const { place, store } = open();
      await store.begin(activation());
      place.setNow(NOW + TTL - 1);
      expect(await store.find(SESSION, REPORT)).toEqual(activation());
      expect(await store.begin(activation({ revision: 2 }))).toEqual(activation());
      place.setNow(NOW + TTL);
      expect(await store.find(SESSION, REPORT)).toBeUndefined();
      expect(await store.list(SESSION)).toEqual([]);
      const next = activation({ activated_at: at(TTL), revision: 2, expires_at: NOW + 2 * TTL });
      expect(await store.begin(next)).toBe('begun');
      expect(await store.find(SESSION, REPORT)).toEqual(next);
      expect(await store.list(SESSION)).toEqual([next]);
    });

    test('[D3] of 20 that begin at once in the place of an expired one exactly one begins', async () => {
      const { place, store } = open();
      await store.begin(activation());
      place.setNow(NOW + TTL);
      const all = Array.from({ length: 20 }, (_, index) =>
        activation({ activated_at: at(TTL + index), revision: index + 2, expires_at: NOW + 2 * TTL }),
      );
      const outcomes = await Promise.all(all.map((one) => place.storeOf(ACME).begin(one)));
      expect(outcomes.filter((outcome) => outcome === 'begun')).toHaveLength(1);
      expect(await store.find(SESSION, REPORT)).toEqual(all[outcomes.indexOf('begun')]);
    });

    test('a renewal moves the end, and nothing else', async () => {
      const { place, store } = open();
      await store.begin(activation());
      await store.renew(activation(), NOW + 3 * TTL);
      place.setNow(NOW + 2 * TTL);
      expect(await store.find(SESSION, REPORT)).toEqual(activation({ expires_at: NOW + 3 * TTL }));
      expect(await store.begin(activation({ activated_at: at(2 * TTL) }))).not.toBe('begun');
      place.setNow(NOW + 3 * TTL);
      expect(await store.find(SESSION, REPORT)).toBeUndefined();
    });

    test('a renewal of another activation, or of none, does nothing', async () => {
      const { store } = open();
      await store.renew(activation(), NOW + 3 * TTL);
      expect(await store.list(SESSION)).toEqual([]);
      const later = activation({ activated_at: at(5) });
      await store.begin(later);
      await store.renew(activation(), NOW + 3 * TTL);
      expect(await store.find(SESSION, REPORT)).toEqual(later);
    });

    test('a renewal that comes too late does not bring an activation back', async () => {
      const { place, store } = open();
      await store.begin(activation());
      place.setNow(NOW + TTL);
      await store.renew(activation(), NOW + 3 * TTL);
      expect(await store.find(SESSION, REPORT)).toBeUndefined();
      expect(await store.begin(activation({ activated_at: at(TTL), expires_at: NOW + 2 * TTL }))).toBe(
        'begun',
      );
    });
  });

  describe(`${name}: release`, () => {
    test('[J16] ends one activation, and again is nothing', async () => {
      const { store } = open();
      const other = activation({ skill: skillName('other') });
      await store.begin(activation());
      await store.begin(other);
      await store.release(SESSION, REPORT);
      await store.release(SESSION, REPORT);
      expect(await store.find(SESSION, REPORT)).toBeUndefined();
      expect(await store.list(SESSION)).toEqual([other]);
      expect(await store.begin(activation())).toBe('begun');
    });

    test('[J16] with a start it ends that very activation, and no later one', async () => {
      const { store } = open();
      const later = activation({ activated_at: at(5) });
      await store.begin(later);
      await store.release(SESSION, REPORT, at(0));
      expect(await store.find(SESSION, REPORT)).toEqual(later);
      await store.release(SESSION, REPORT, at(5));
      expect(await store.find(SESSION, REPORT)).toBeUndefined();
      await store.release(SESSION, REPORT, at(5));
    });

    test('[J16] clearing a session releases all of it, and nothing of others', async () => {
      const { place, store } = open();
      for (let index = 0; index < 30; index += 1) await store.begin(activation({ skill: skill(index) }));
      await store.begin(activation({ skill: skillName('expired'), expires_at: NOW }));
      const kept = activation({ session_id: sessionId('session-10') });
      await store.begin(kept);
      await place.storeOf(GLOBEX).begin(activation());
      await store.release(SESSION);
      await store.release(SESSION);
      expect(await store.list(SESSION)).toEqual([]);
      expect(await store.list(kept.session_id)).toEqual([kept]);
      expect(await place.storeOf(GLOBEX).list(SESSION)).toEqual([activation()]);
    });
  });

  describe(`${name}: keys`, () => {
    test('[J16] odd session ids are each a session of their own', async () => {
      const { store } = open();
      const sessions = ODD_SESSIONS.map(sessionId);
      for (const [index, session] of sessions.entries()) {
        expect(await store.begin(activation({ session_id: session, revision: index }))).toBe('begun');
      }
      for (const [index, session] of sessions.entries()) {
        const own = activation({ session_id: session, revision: index });
        expect(await store.find(session, REPORT)).toEqual(own);
        expect(await store.list(session)).toEqual([own]);
      }
      await store.release(sessionId('a'));
      expect(await store.list(sessionId('a'))).toEqual([]);
      expect(await store.list(sessionId('a#b'))).toHaveLength(1);
    });

    test('[J16] two tenants with the same session and skill never meet', async () => {
      const { place, store: acme } = open();
      const globex = place.storeOf(GLOBEX);
      const his = activation({ owner: 'globex', activated_at: at(3) });
      expect(await acme.begin(activation())).toBe('begun');
      expect(await globex.find(SESSION, REPORT)).toBeUndefined();
      expect(await globex.list(SESSION)).toEqual([]);
      expect(await globex.begin(his)).toBe('begun');
      expect(await acme.find(SESSION, REPORT)).toEqual(activation());
      await acme.renew(his, NOW + 9 * TTL);
      await acme.release(SESSION, REPORT, his.activated_at);
      await acme.release(SESSION);
      expect(await globex.list(SESSION)).toEqual([his]);
    });

    test('a session id that looks like another tenant reaches nothing of it', async () => {
      const { place, store: acme } = open();
      await place.storeOf(GLOBEX).begin(activation());
      for (const guess of [
        '../globex/session-1',
        'globex#session#session-1',
        '#tenant#globex#session#c2Vzc2lvbi0x',
      ]) {
        expect(await acme.list(sessionId(guess))).toEqual([]);
        await acme.release(sessionId(guess));
      }
      expect(await place.storeOf(GLOBEX).list(SESSION)).toHaveLength(1);
    });
  });

  describe(`${name}: a large session`, () => {
    test('[D3] more than 1 MB of activations are listed and cleared to the last', async () => {
      const { store } = open();
      const all = Array.from({ length: 60 }, (_, index) =>
        // About 24 KiB each, the most that an item holds.
        activation({ skill: skill(index), listing: { entries: [largeEntry], truncation_reasons: [] } }),
      );
      for (const one of all) expect(await store.begin(one)).toBe('begun');
      expect(Buffer.byteLength(JSON.stringify(all))).toBeGreaterThan(1_300_000);
      const listed = await store.list(SESSION);
      expect(listed.map((one) => one.skill).sort()).toEqual(all.map((one) => one.skill).sort());
      await store.release(SESSION);
      expect(await store.list(SESSION)).toEqual([]);
      for (const one of all) expect(await store.find(SESSION, one.skill)).toBeUndefined();
    });
  });
}

const at = (seconds: number): string => new Date((NOW + seconds) * 1000).toISOString();
const skill = (index: number): SkillName => skillName(`skill-${index}`);
const digestOf = (index: number): Digest => `sha256:${String(index).padStart(64, '0')}` as Digest;
const largeEntry = {
  relative_path: `references/${'x'.repeat(23_000)}`,
  name: 'x',
  size: 1,
  type: 'reference' as const,
  mime_type: 'text/plain',
  digest: digestOf(1),
};

function activation(
  changes: Partial<Activation> & { readonly session_id?: SessionId } = {},
  without: readonly (keyof Activation)[] = [],
): Activation {
  const whole: Activation = {
    session_id: SESSION,
    skill: REPORT,
    owner: 'acme',
    bundle: 'main',
    directory: 'report',
    revision: 1,
    mode: 'strict',
    skill_digest: digestOf(1),
    skill_md: { path: 'report/SKILL.md', digest: digestOf(2), size: 120 },
    tags: [],
    listing: { entries: [], truncation_reasons: [] },
    policy: { ...DEFAULT_RESOURCE_POLICY },
    activated_at: at(0),
    expires_at: NOW + TTL,
    ...changes,
  };
  return Object.fromEntries(
    Object.entries(whole).filter(([name]) => !without.includes(name as keyof Activation)),
  ) as Activation;
}
