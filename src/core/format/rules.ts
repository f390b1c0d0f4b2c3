/**
 * The Agent Skills format, one small rule per clause (J23, J27). A rule takes a field as written and returns the value
 * to use, if any, with its findings. Strict refuses (severity error); lenient normalizes what it can and warns.
 */
import type { ErrorCode, Finding, Severity } from '../errors.ts';
import { finding } from '../errors.ts';
import { isSkillName, show } from '../ids.ts';
import {
  MAX_COMPATIBILITY_CODE_POINTS,
  MAX_DESCRIPTION_CODE_POINTS,
  MAX_NAME_CHARACTERS,
} from '../limits.ts';
import { codePoints } from './utf8.ts';
import type { Field } from './yaml-fields.ts';

export type ValidationMode = 'strict' | 'lenient';

export interface RuleContext {
  readonly mode: ValidationMode;
  /** How findings name the file. */
  readonly file: string;
}

export interface Ruled<Value> {
  readonly value: Value | undefined;
  readonly findings: readonly Finding[];
}

/** The top-level fields of the specification. */
const KNOWN_FIELDS = new Set([
  'name',
  'description',
  'license',
  'compatibility',
  'metadata',
  'allowed-tools',
]);

/** Names that people give a SKILL.md; only the first is the specification's. */
export const SKILL_FILE_NAME = 'SKILL.md';

const KIND_WORDS: Readonly<Record<Field['kind'], string>> = {
  text: 'text',
  number: 'an unquoted number',
  boolean: 'an unquoted true or false',
  empty: 'nothing',
  mapping: 'a mapping',
  list: 'a list',
};

const good = <Value>(value: Value): Ruled<Value> => ({ value, findings: [] });

/** Strict refuses, lenient warns. */
function breach(
  context: RuleContext,
  code: ErrorCode,
  message: string,
  line: number | undefined,
  fix?: string,
): Finding {
  return finding(context.mode === 'strict' ? 'error' : 'warning', code, message, {
    file: context.file,
    line,
    fix,
  });
}

function note(
  severity: Severity,
  context: RuleContext,
  code: ErrorCode,
  message: string,
  line?: number,
): Finding {
  return finding(severity, code, message, { file: context.file, line });
}

/** Specification, "SKILL.md": the file has exactly this name. */
export function ruleFileName(fileName: string, context: RuleContext): readonly Finding[] {
  if (fileName === SKILL_FILE_NAME) return [];
  return [
    breach(
      context,
      'wrong_file_name',
      `The file is named ${show(fileName)}, not exactly SKILL.md.`,
      undefined,
    ),
  ];
}

/** Specification, `name`: required, 1-64 of a-z, 0-9, single inner hyphens. */
export function ruleName(field: Field | undefined, context: RuleContext): Ruled<string> {
  if (field === undefined || field.kind === 'empty') return missing('name', field, context);
  if (field.kind === 'mapping' || field.kind === 'list') {
    return {
      value: undefined,
      findings: [
        note('error', context, 'invalid_name', `\`name\` is ${KIND_WORDS[field.kind]}.`, field.line),
      ],
    };
  }
  if (isSkillName(field.text)) return good(field.text);
  const repaired = slug(field.text);
  const message = `\`name\` ${show(field.text)} is not 1-${MAX_NAME_CHARACTERS} characters of a-z, 0-9 and single inner hyphens.`;
  if (context.mode === 'strict' || repaired === '') {
    return { value: undefined, findings: [note('error', context, 'invalid_name', message, field.line)] };
  }
  const findings = [
    note('warning', context, 'invalid_name', `${message} Read as "${repaired}".`, field.line),
  ];
  return { value: repaired, findings };
}

function slug(text: string): string {
  const words = text
    .normalize('NFKD')
    .replaceAll(/\p{M}+/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-');
  return words.replaceAll(/^-+/g, '').slice(0, MAX_NAME_CHARACTERS).replaceAll(/-+$/g, '');
}

/** Specification, `name`: equal to the parent directory. Not asked of a skill that is the root of an archive. */
export function ruleDirectory(
  name: string,
  directory: string | undefined,
  line: number | undefined,
  context: RuleContext,
): readonly Finding[] {
  if (directory === undefined || directory === name) return [];
  const message = `The skill is named "${name}" but its directory is ${show(directory)}.`;
  return [breach(context, 'directory_name_mismatch', message, line)];
}

/** Specification, `description`: required, 1-1,024 characters (counted in code points). */
export function ruleDescription(field: Field | undefined, context: RuleContext): Ruled<string> {
  if (field === undefined || field.kind === 'empty') return missing('description', field, context);
  const text = plainText(field, context);
  if (text.value === undefined) return text;
  const findings = [...text.findings];
  let value = text.value;
  if (!VISIBLE.test(value)) {
    return {
      value: undefined,
      findings: [
        ...findings,
        note(
          'error',
          context,
          'invalid_field',
          '`description` is blank; it needs 1-1,024 characters.',
          field.line,
        ),
      ],
    };
  }
  const points = codePoints(value.trimEnd());
  if (points.length > MAX_DESCRIPTION_CODE_POINTS) {
    const message = `\`description\` has ${points.length} characters; the limit is ${MAX_DESCRIPTION_CODE_POINTS}.`;
    findings.push(
      breach(context, 'invalid_field', message, field.line, 'Shorten it; details belong into the body.'),
    );
    if (context.mode === 'strict') return { value: undefined, findings };
    value = points.slice(0, MAX_DESCRIPTION_CODE_POINTS).join('');
  }
  return { value, findings };
}

/** Specification, `license`: text. */
export function ruleLicense(field: Field | undefined, context: RuleContext): Ruled<string> {
  return field === undefined ? { value: undefined, findings: [] } : plainText(field, context);
}

/** Specification, `compatibility`: 1-500 characters when present. */
export function ruleCompatibility(field: Field | undefined, context: RuleContext): Ruled<string> {
  if (field === undefined) return { value: undefined, findings: [] };
  const text = plainText(field, context);
  if (text.value === undefined) return text;
  const points = codePoints(text.value.trim());
  if (points.length >= 1 && points.length <= MAX_COMPATIBILITY_CODE_POINTS) return text;
  const message = `\`compatibility\` has ${points.length} characters; it needs 1-${MAX_COMPATIBILITY_CODE_POINTS}.`;
  const findings = [...text.findings, breach(context, 'invalid_field', message, field.line)];
  if (context.mode === 'strict' || points.length === 0) return { value: undefined, findings };
  return { value: points.slice(0, MAX_COMPATIBILITY_CODE_POINTS).join(''), findings };
}

/** Specification, `metadata`: a mapping of text to text. */
export function ruleMetadata(field: Field | undefined, context: RuleContext): Ruled<Map<string, string>> {
  if (field === undefined || (field.kind === 'empty' && context.mode === 'lenient'))
    return good(new Map<string, string>());
  if (field.kind !== 'mapping') {
    const message = `\`metadata\` is ${KIND_WORDS[field.kind]}; expected a mapping of text to text.`;
    return { value: new Map(), findings: [breach(context, 'invalid_field', message, field.line)] };
  }
  const value = new Map<string, string>();
  const findings: Finding[] = [];
  for (const entry of field.entries) {
    value.set(entry.key, entry.kind === 'empty' ? '' : entry.text);
    findings.push(...commentFindings(entry, context, `metadata.${entry.key}`));
    if (entry.kind === 'text') continue;
    const message = `${named(`metadata.${entry.key}`)} is ${KIND_WORDS[entry.kind]}; expected text.`;
    const fix = isCollection(entry)
      ? `Write it as one text, or move its parts to keys such as \`${entry.key}.part\`.`
      : `Put the value in quotes: ${entry.key}: ${JSON.stringify(entry.text)}`;
    findings.push(breach(context, 'invalid_field', message, entry.line, fix));
  }
  return { value, findings };
}

/**
 * Specification, `allowed-tools`: one space-separated text. Advisory wherever it is used (J25), but never lost: what
 * cannot be read as tools is an error in both modes.
 */
export function ruleAllowedTools(field: Field | undefined, context: RuleContext): Ruled<readonly string[]> {
  if (field === undefined) return good([]);
  const findings = commentFindings(field, context);
  if (field.kind === 'text') {
    const { tools, byComma } = splitTools(field.text);
    if (!byComma) return { value: tools, findings };
    const message = '`allowed-tools` is separated by spaces, not commas.';
    return {
      value: tools,
      findings: [...findings, note('warning', context, 'invalid_field', message, field.line)],
    };
  }
  const message = `\`allowed-tools\` is ${KIND_WORDS[field.kind]}; expected one text separated by spaces.`;
  if (field.kind === 'mapping' || field.entries.some(isCollection)) {
    return { value: undefined, findings: [note('error', context, 'invalid_field', message, field.line)] };
  }
  findings.push(breach(context, 'invalid_field', message, field.line));
  if (field.kind === 'empty') return { value: [], findings };
  if (field.kind !== 'list') return { value: splitTools(field.text).tools, findings };
  findings.push(...field.entries.flatMap((item) => commentFindings(item, context, field.key)));
  const items = field.entries.filter((item) => item.kind !== 'empty');
  return { value: items.flatMap((item) => splitTools(item.text).tools), findings };
}

function isCollection(field: Field): boolean {
  return field.kind === 'mapping' || field.kind === 'list';
}

/** Splits at blanks and commas outside parentheses: `Bash(git add *), Read` is two tools. */
export function splitTools(text: string): { readonly tools: readonly string[]; readonly byComma: boolean } {
  const tools: string[] = [];
  let tool = '';
  let depth = 0;
  let byComma = false;
  for (const character of text) {
    if (depth === 0 && /[\s,]/.test(character)) {
      byComma ||= character === ',';
      if (tool !== '') tools.push(tool);
      tool = '';
      continue;
    }
    if (character === '(') depth += 1;
    if (character === ')' && depth > 0) depth -= 1;
    tool += character;
  }
  if (tool !== '') tools.push(tool);
  return { tools, byComma };
}

/** Specification: no other top-level fields. Lenient keeps them verbatim. */
export function ruleKnownFields(fields: readonly Field[], context: RuleContext): readonly Finding[] {
  return fields
    .filter((field) => !KNOWN_FIELDS.has(field.key))
    .map((field) =>
      breach(
        context,
        'unknown_field',
        `${named(field.key)} (${KIND_WORDS[field.kind]}) is not a field of the specification.`,
        field.line,
      ),
    );
}

function missing(name: string, field: Field | undefined, context: RuleContext): Ruled<never> {
  const message = field === undefined ? `\`${name}\` is missing.` : `\`${name}\` is empty.`;
  return {
    value: undefined,
    findings: [
      finding('error', 'missing_field', message, {
        file: context.file,
        line: field?.line ?? 1,
        fix: `Add \`${name}:\` with a value to the frontmatter.`,
      }),
    ],
  };
}

// eslint-disable-next-line no-control-regex -- control characters are just what this looks for
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g;

/** Anything but white space and marks of no width. */
const VISIBLE = /[^\s\p{Z}\p{C}]/u;

/** An author's key in a message: short, without control characters. */
function named(key: string): string {
  return `\`${show(key).slice(1, -1)}\``;
}

/** What an unquoted ` #` takes away from a value. */
function commentFindings(field: Field, context: RuleContext, key = field.key): Finding[] {
  if (field.droppedComment === undefined) return [];
  const message = `${named(key)}: ${show(field.droppedComment.trim())} after \` #\` is a YAML comment and not part of the value.`;
  const fix = 'Put the value in quotes if the text belongs to it.';
  return [finding('warning', 'invalid_field', message, { file: context.file, line: field.line, fix })];
}

/** A value that is meant to be text: kept as written, with what would be lost or misread said. */
function plainText(field: Field, context: RuleContext): Ruled<string> {
  if (field.kind === 'empty') {
    const message = `${named(field.key)} is empty; expected text.`;
    const fix = 'Give it a value or remove the line.';
    return { value: undefined, findings: [breach(context, 'invalid_field', message, field.line, fix)] };
  }
  const findings: Finding[] = [];
  if (isCollection(field)) {
    const message = `\`${field.key}\` is ${KIND_WORDS[field.kind]}; expected text.`;
    findings.push(breach(context, 'invalid_field', message, field.line, 'Put the value in quotes.'));
    if (context.mode === 'strict') return { value: undefined, findings };
  } else if (field.kind !== 'text') {
    const message = `\`${field.key}\` is ${KIND_WORDS[field.kind]}; read as the text ${show(field.text)}.`;
    const severity =
      field.key === 'description' ? 'warning' : context.mode === 'strict' ? 'error' : 'warning';
    findings.push(note(severity, context, 'invalid_field', message, field.line));
  }
  findings.push(...commentFindings(field, context));
  const value = field.text.replaceAll(CONTROL, ' ').toWellFormed();
  if (value !== field.text) {
    const message = `\`${field.key}\` holds control characters or broken Unicode.`;
    findings.push(breach(context, 'invalid_field', message, field.line));
  }
  return { value, findings };
}
