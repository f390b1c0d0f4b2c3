import type { CatalogSkill } from './catalog.ts';

/** How much a match tells, by where it is. */
const WEIGHTS = { wholeName: 50, name: 10, namePrefix: 5, tag: 6, description: 2 };

/** Skills that match every word of a query in name, tags or description, best first; equal scores in name order. */
export function rankSkills(skills: readonly CatalogSkill[], query: string): readonly CatalogSkill[] {
  const words = wordsOf(query);
  if (words.length === 0) return skills;
  return skills
    .map((skill) => ({ skill, score: scoreOf(skill, words, query) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || (a.skill.entry.name < b.skill.entry.name ? -1 : 1))
    .map(({ skill }) => skill);
}

function scoreOf({ entry }: CatalogSkill, words: readonly string[], query: string): number {
  const name = new Set(wordsOf(entry.name));
  const tags = new Set(entry.tags.flatMap(wordsOf));
  const description = wordsOf(entry.description);
  let total = entry.name === query.trim().toLowerCase() ? WEIGHTS.wholeName : 0;
  for (const word of words) {
    const starts = (one: string) => one.startsWith(word);
    const score =
      (name.has(word) ? WEIGHTS.name : [...name].some(starts) ? WEIGHTS.namePrefix : 0) +
      (tags.has(word) ? WEIGHTS.tag : 0) +
      (description.some(starts) ? WEIGHTS.description : 0);
    if (score === 0) return 0;
    total += score;
  }
  return total;
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}
