// A set of skills as teams write them: the same bytes on every machine and in every run.
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';

const VERBS = ['review', 'draft', 'plan', 'check', 'summarize', 'migrate', 'triage', 'reconcile'];
const NOUNS = [
  'invoices',
  'contracts',
  'incidents',
  'releases',
  'dashboards',
  'tickets',
  'schemas',
  'budgets',
];
const TAGS = ['finance', 'legal', 'support', 'engineering', 'operations', 'research'];
const WORDS =
  `the a of to in and or when before after each every without record source number owner date amount status field
  column value total check compare read write open close ask confirm report list keep drop move merge split sort count
  customer supplier account ledger invoice contract clause release branch deploy schema index query table metric alert
  dashboard incident ticket budget forecast region currency exception approval deadline evidence summary draft version
  template reviewer team system service request answer error warning limit rule policy step result example case`.split(
    /\s+/,
  );

/** Files of one skill, SKILL.md first. */
export const FILES_PER_SKILL = 5;
const RESOURCES = [
  ['references/guide.md', markdown],
  ['references/terms.md', markdown],
  ['scripts/check.py', python],
  ['assets/template.json', json],
];

/**
 * @param {number} count skills
 * @returns {{ name: string, files: { path: string, bytes: Buffer }[] }[]} in name order; files of 1 to 8 KB
 */
export function makeSkills(count) {
  const skills = Array.from({ length: count }, (_, index) => makeSkill(index));
  return skills.sort((a, b) => (a.name < b.name ? -1 : 1));
}

export async function writeSkills(directory, skills) {
  for (const skill of skills) {
    for (const file of skill.files) {
      const target = path.join(directory, skill.name, file.path);
      await mkdir(path.dirname(target), { recursive: true });
      await writeFile(target, file.bytes);
    }
  }
}

function makeSkill(index) {
  const random = generator(index + 1);
  const verb = VERBS[index % VERBS.length];
  const noun = NOUNS[Math.floor(index / VERBS.length) % NOUNS.length];
  const name = `${verb}-${noun}-${String(index).padStart(3, '0')}`;
  const about = words(random, 12 + random(30));
  const head = [
    '---',
    `name: ${name}`,
    `description: "Helps to ${verb} ${noun}: ${about}. Use when asked to ${verb} ${noun}, or about ${words(random, 4)}."`,
    'license: Apache-2.0',
    ...(index % 3 === 0 ? ['allowed-tools: Read Grep Bash(python3 *)'] : []),
    'metadata:',
    `  skillbucket.tags: "${TAGS[random(TAGS.length)]} ${noun}"`,
    '  skillbucket.version: "1.0.0"',
    '---',
    '',
    '',
  ].join('\n');
  const size = () => 1_000 + random(7_000);
  const files = [
    { path: 'SKILL.md', bytes: Buffer.from(head + markdown(random, size())) },
    ...RESOURCES.map(([file, make]) => ({ path: file, bytes: Buffer.from(make(random, size())) })),
  ];
  return { name, files };
}

function markdown(random, size) {
  let text = `# ${sentence(random)}\n\n`;
  while (text.length < size) {
    const kind = random(4);
    if (kind === 0) text += `## ${sentence(random)}\n\n`;
    if (kind === 1) text += `${Array.from({ length: 4 }, () => `- ${sentence(random)}\n`).join('')}\n`;
    if (kind === 2) text += `\`\`\`sh\n${words(random, 5)} --${words(random, 1)}\n\`\`\`\n\n`;
    text += `${Array.from({ length: 3 }, () => sentence(random)).join(' ')}\n\n`;
  }
  return text;
}

function python(random, size) {
  let text = `"""${sentence(random)}"""\n\nimport sys\n\n`;
  for (let part = 1; text.length < size; part += 1) {
    text += `\ndef step_${part}(rows):\n    """${sentence(random)}"""\n    return [row for row in rows if row["${words(random, 1)}"] != "${words(random, 3)}"]\n`;
  }
  return text;
}

function json(random, size) {
  const sections = [];
  for (let length = 0; length < size; length += 160) {
    sections.push({ title: words(random, 4), text: sentence(random), required: random(2) === 0 });
  }
  return `${JSON.stringify({ sections }, null, 2)}\n`;
}

const words = (random, count) => Array.from({ length: count }, () => WORDS[random(WORDS.length)]).join(' ');

function sentence(random) {
  const text = words(random, 6 + random(10));
  return `${text[0].toUpperCase()}${text.slice(1)}.`;
}

/** mulberry32: small, and the same everywhere. Returns whole numbers below `limit`. */
function generator(seed) {
  let state = seed * 0x9e3779b1;
  return (limit) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  };
}
