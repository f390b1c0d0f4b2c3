import { SkillError } from '../errors.ts';
import { utf8Length } from '../format/utf8.ts';
import type { CatalogSkill } from './catalog.ts';
import { locationOf } from './catalog.ts';
import { estimateTokens } from './tokens.ts';

export interface PromptOptions {
  readonly format: 'markdown' | 'xml';
  readonly includeAllowedTools: boolean;
  readonly includeLocation: boolean;
  /** The host's own words, put in as they are. */
  readonly header: string | undefined;
  readonly loadInstruction: string | undefined;
  /** Budget in estimated tokens, wrapper and notice included (N8). */
  readonly maxTokens: number;
}

export interface RenderedPrompt {
  /** Empty when there is no skill. */
  readonly text: string;
  readonly shown: number;
  readonly total: number;
  readonly estimatedTokens: number;
}

const DEFAULT_HEADER = 'Available skills';
const DEFAULT_INSTRUCTION =
  'Each skill is a set of instructions for one kind of task. When a task clearly matches a description, call load_skill with the name of that skill before you start; load nothing otherwise.';

/**
 * The compact index for a system prompt: names and descriptions only (J22), whole entries in name order within the
 * budget, escaped, with a notice of how many were left out (N8). Deterministic.
 *
 * @throws SkillError invalid_request when not even wrapper and notice fit
 */
export function renderPrompt(skills: readonly CatalogSkill[], options: PromptOptions): RenderedPrompt {
  if (skills.length === 0) return { text: '', shown: 0, total: 0, estimatedTokens: 0 };
  const style = STYLES[options.format];
  const wrapper = style.wrap(options);
  const entries = skills.map((skill) => style.entry(skill, options));
  const budget = options.maxTokens * 4;
  const fixed = utf8Length(wrapper.before) + utf8Length(wrapper.after);
  const shown = fittingEntries(entries, budget - fixed, (left) =>
    utf8Length(style.notice(left, skills.length)),
  );
  if (shown === undefined) {
    throw new SkillError('invalid_request', {
      detail: `max_tokens=${options.maxTokens} is too small: wrapper and notice alone need ${Math.ceil((fixed + utf8Length(style.notice(skills.length, skills.length))) / 4)}.`,
    });
  }
  const left = skills.length - shown;
  const notice = left === 0 ? '' : style.notice(left, skills.length);
  const text = wrapper.before + entries.slice(0, shown).join('') + notice + wrapper.after;
  return { text, shown, total: skills.length, estimatedTokens: estimateTokens(text) };
}

/** How many entries fit, the notice counted when any is left out; undefined when not even the notice fits. */
function fittingEntries(
  entries: readonly string[],
  budget: number,
  noticeBytes: (left: number) => number,
): number | undefined {
  const sizes = entries.map(utf8Length);
  let used = sizes.reduce((sum, size) => sum + size, 0);
  if (used <= budget) return entries.length;
  for (let shown = entries.length - 1; shown >= 0; shown -= 1) {
    used -= sizes[shown] ?? 0;
    if (used + noticeBytes(entries.length - shown) <= budget) return shown;
  }
  return undefined;
}

interface Style {
  wrap(options: PromptOptions): { before: string; after: string };
  entry(skill: CatalogSkill, options: PromptOptions): string;
  notice(left: number, total: number): string;
}

const noticeText = (left: number, total: number): string =>
  `${left} of ${total} skills are left out of this list to keep it short; they can still be loaded by name.`;

const STYLES: Readonly<Record<PromptOptions['format'], Style>> = {
  markdown: {
    wrap: ({ header = `## ${DEFAULT_HEADER}`, loadInstruction = DEFAULT_INSTRUCTION }) => ({
      before: [header, loadInstruction]
        .filter((part) => part !== '')
        .map((part) => `${part}\n\n`)
        .join(''),
      after: '',
    }),
    entry: (skill, options) => `- **${skill.entry.name}**: ${parts(skill, options).join(' ')}\n`,
    notice: (left, total) => `\n(${noticeText(left, total)})\n`,
  },
  xml: {
    wrap: ({ header = '', loadInstruction = DEFAULT_INSTRUCTION }) => ({
      before: `${[header, loadInstruction]
        .filter((part) => part !== '')
        .map((part) => `${part}\n`)
        .join('')}<available_skills>\n`,
      after: '</available_skills>\n',
    }),
    entry: ({ entry, root }, options) => {
      const lines = [`<name>${entry.name}</name>`, `<description>${inline(entry.description)}</description>`];
      if (options.includeLocation) lines.push(`<location>${escapeText(locationOf(root, entry))}</location>`);
      if (options.includeAllowedTools && entry.allowed_tools.length > 0) {
        lines.push(`<allowed_tools>${inline(entry.allowed_tools.join(' '))}</allowed_tools>`);
      }
      return `<skill>\n${lines.map((line) => `${line}\n`).join('')}</skill>\n`;
    },
    notice: (left, total) => `<notice>${noticeText(left, total)}</notice>\n`,
  },
};

function parts({ entry, root }: CatalogSkill, options: PromptOptions): string[] {
  const texts = [inline(entry.description)];
  if (options.includeAllowedTools && entry.allowed_tools.length > 0) {
    texts.push(`(allowed tools: ${inline(entry.allowed_tools.join(', '))})`);
  }
  if (options.includeLocation) texts.push(`(${escapeText(locationOf(root, entry))})`);
  return texts;
}

/** One line, with nothing that could close a tag around it: a description is data (N11). */
function inline(text: string): string {
  return escapeText(text.replaceAll(/\s+/g, ' ').trim());
}

function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
