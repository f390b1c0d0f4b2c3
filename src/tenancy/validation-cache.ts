import { LRUCache } from 'lru-cache';
import type { ParsedSkill } from '../core/format/skill-document.ts';
import type { TenantId } from '../core/ids.ts';

/**
 * What validating a SKILL.md gave, by tenant, digest and everything else that decides it: never stale. Metadata only;
 * the body is read again from its bytes.
 */
export interface ValidationCache {
  get(tenant: TenantId, key: readonly string[], validate: () => ParsedSkill): ParsedSkill;
}

/** Characters of frontmatter, which is most of an entry. */
const MAX_CHARACTERS = 8 * 1024 * 1024;

export function validationCache(): ValidationCache {
  const known = new LRUCache<string, ParsedSkill>({
    maxSize: MAX_CHARACTERS,
    sizeCalculation: ({ metadata }) => 500 + (metadata?.frontmatter.length ?? 0),
  });
  return {
    get(tenant, parts, validate) {
      const key = JSON.stringify([tenant, ...parts]);
      const held = known.get(key);
      if (held !== undefined) return held;
      const { metadata, findings, bodyOffset } = validate();
      const parsed = { metadata, findings, bodyOffset };
      known.set(key, parsed);
      return parsed;
    },
  };
}
