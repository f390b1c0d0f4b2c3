import type { Finding } from '../core/errors.ts';
import { SkillError } from '../core/errors.ts';
import type { ValidationMode } from '../core/format/skill-document.ts';
import { bundleId } from '../core/ids.ts';
import { indexTree } from '../sources/index-tree.ts';
import type { SkillTree } from '../sources/skill-tree.ts';

export interface Validation {
  /** Whether publishing in this mode would be accepted. */
  readonly valid: boolean;
  readonly mode: ValidationMode;
  readonly skills: readonly { readonly name: string; readonly directory: string }[];
  readonly findings: readonly Finding[];
}

/** What publishing would say of a tree, without a store. Findings are the answer here, not a refusal. */
export async function validateTree(tree: SkillTree, mode: ValidationMode): Promise<Validation> {
  try {
    const { skills, findings } = await indexTree(tree, { bundle: bundleId('validated'), mode });
    return {
      valid: true,
      mode,
      skills: skills.map(({ name, directory }) => ({ name, directory })),
      findings,
    };
  } catch (error) {
    if (!(error instanceof SkillError) || error.findings.length === 0) throw error;
    return { valid: false, mode, skills: [], findings: error.findings };
  }
}
