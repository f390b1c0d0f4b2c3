import type { HiddenSkills } from './tenant-policy.ts';

/** What decides whether a skill is hidden; an entry of a manifest and an activation both have it. */
export interface HideableSkill {
  readonly name: string;
  readonly tags: readonly string[];
  readonly disable_model_invocation?: true;
}

/** The rule that hides a skill; undefined when none does. */
export type HidingRule =
  | { readonly rule: 'hidden_name' | 'hidden_tag'; readonly value: string }
  | { readonly rule: 'disable_model_invocation'; readonly value: 'true' };

export function hidingRule(hidden: HiddenSkills, skill: HideableSkill): HidingRule | undefined {
  if (hidden.names.includes(skill.name)) return { rule: 'hidden_name', value: skill.name };
  const tag = skill.tags.find((one) => hidden.tags.includes(one));
  if (tag !== undefined) return { rule: 'hidden_tag', value: tag };
  return hidden.disable_model_invocation && skill.disable_model_invocation === true
    ? { rule: 'disable_model_invocation', value: 'true' }
    : undefined;
}
