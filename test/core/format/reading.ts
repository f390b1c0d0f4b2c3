import { expect } from 'vitest';
import type { Finding } from '../../../src/core/errors.ts';
import type { SkillMetadata, ValidationMode } from '../../../src/core/format/skill-document.ts';
import { parseSkill } from '../../../src/core/format/skill-document.ts';
import { encodeUtf8 } from '../../../src/core/format/utf8.ts';

export const MODES: readonly ValidationMode[] = ['strict', 'lenient'];

export interface Reading {
  readonly metadata: SkillMetadata | undefined;
  readonly instructions: string | undefined;
  readonly findings: readonly Finding[];
  /** `severity code line`, in order: what a test compares. */
  readonly told: readonly string[];
}

/** Parses a SKILL.md as everybody does, and checks what holds for every answer. */
export function read(
  content: string | Uint8Array,
  mode: ValidationMode,
  place: { readonly directory?: string | undefined; readonly fileName?: string } = {},
): Reading {
  const bytes = typeof content === 'string' ? encodeUtf8(content) : content;
  const before = new Uint8Array(bytes);
  const fileName = place.fileName ?? 'SKILL.md';
  const directory = 'directory' in place ? place.directory : 'demo';
  const path = directory === undefined ? fileName : `${directory}/${fileName}`;
  const { metadata, instructions, findings } = parseSkill({ path, fileName, directory, bytes }, mode);

  expect(Buffer.compare(bytes, before), 'the bytes stay as they came').toBe(0);
  for (const one of findings) {
    expect(one.fix, 'every finding says what to do').not.toBe('');
    expect(one.file, 'every finding names the file').toBe(path);
    expect(one.line ?? 1).toBeGreaterThanOrEqual(1);
  }
  const refused = findings.some((one) => one.severity === 'error');
  expect(metadata === undefined, 'refused exactly when there is an error').toBe(refused);
  expect(instructions === undefined).toBe(refused);
  return { metadata, instructions, findings, told: findings.map(tell) };
}

function tell({ severity, code, line }: Finding): string {
  return [severity, code, line].filter((part) => part !== undefined).join(' ');
}

/** A SKILL.md of these frontmatter lines: the first is line 2 of the file. */
export function fileOf(...lines: string[]): string {
  return `---\n${lines.join('\n')}\n---\nBody\n`;
}

/** A valid SKILL.md named `demo` with one line more: line 4 of the file. */
export function demoWith(...lines: string[]): string {
  return fileOf('name: demo', 'description: d', ...lines);
}

/** What the two modes say of an input, and what is read where it is not refused. */
export interface Row {
  readonly strict: readonly string[];
  readonly lenient: readonly string[];
  readonly reads?: Readonly<Record<string, unknown>>;
}

export function expectRow(content: string | Uint8Array, row: Row): void {
  for (const mode of MODES) {
    const { told, metadata } = read(content, mode);
    expect(told, mode).toEqual(row[mode]);
    const fields = new Map<string, unknown>(Object.entries(metadata ?? {}));
    for (const [key, value] of metadata === undefined ? [] : Object.entries(row.reads ?? {})) {
      expect(fields.get(key), `${mode} ${key}`).toEqual(value);
    }
  }
}

export const clean = { strict: [], lenient: [] } as const;
export const both = (...told: string[]): { strict: string[]; lenient: string[] } => ({
  strict: told,
  lenient: told,
});
/** Strict refuses with just what lenient warns of. */
export const breach = (...codes: string[]): { strict: string[]; lenient: string[] } => ({
  strict: codes.map((code) => `error ${code}`),
  lenient: codes.map((code) => `warning ${code}`),
});
