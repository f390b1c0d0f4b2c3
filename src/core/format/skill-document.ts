import type { Finding } from '../errors.ts';
import { finding, hasErrors } from '../errors.ts';
import type { SkillName } from '../ids.ts';
import { MAX_SKILL_MD_BYTES } from '../limits.ts';
import { splitAtFences } from './fences.ts';
import { quoteUnreadableValues } from './repair.ts';
import type { RuleContext, ValidationMode } from './rules.ts';
import {
  ruleAllowedTools,
  ruleCompatibility,
  ruleDescription,
  ruleDirectory,
  ruleFileName,
  ruleKnownFields,
  ruleLicense,
  ruleMetadata,
  ruleName,
} from './rules.ts';
import { decodeUtf8, firstInvalidLine } from './utf8.ts';
import type { BlockPlace, Field } from './yaml-fields.ts';
import { readYamlFields } from './yaml-fields.ts';

export type { ValidationMode } from './rules.ts';

/** The parsed view of a SKILL.md's metadata. The stored bytes are never rewritten from it. */
export interface SkillMetadata {
  readonly name: SkillName;
  /** As written, folding resolved; collapse white space only when rendering. */
  readonly description: string;
  readonly license?: string;
  readonly compatibility?: string;
  readonly metadata: Readonly<Record<string, string>>;
  /** Advisory (J25). */
  readonly allowedTools: readonly string[];
  /** From `metadata.skillbucket.tags` (J24). */
  readonly tags: readonly string[];
  /** From `metadata.skillbucket.version` (J24). */
  readonly version?: string;
  /**
   * The author's wish that no model loads it by itself: `disable-model-invocation: true`, which strict validation
   * refuses as no field of the specification, or the same as `metadata.skillbucket.disable-model-invocation` (J24).
   */
  readonly disableModelInvocation: boolean;
  /** The text between the fences, verbatim. */
  readonly frontmatter: string;
}

export interface SkillFile {
  /** How findings name the file, for example `code-review/SKILL.md`. */
  readonly path: string;
  readonly fileName: string;
  /** Undefined for a skill at the root of an archive, which has no directory to agree with. */
  readonly directory: string | undefined;
  /** The whole file, or its beginning when only metadata is wanted. */
  readonly bytes: Uint8Array;
}

/** More would only hide the first ones. */
const MAX_FINDINGS_OF_A_FILE = 100;

export interface ParsedSkill {
  /** Present exactly when no finding is an error. */
  readonly metadata: SkillMetadata | undefined;
  readonly findings: readonly Finding[];
  /** Where the body begins; 0 when the fences were not found. */
  readonly bodyOffset: number;
}

/**
 * Reads and validates the metadata of a SKILL.md: the one parser for listing, validating, publishing and serving
 * (J23, J24, J27). The body is not looked at.
 */
export function parseSkillMetadata(file: SkillFile, mode: ValidationMode): ParsedSkill {
  const parsed = readMetadata(file, mode);
  return { ...parsed, findings: bounded(parsed.findings, file.path) };
}

/** A manifest keeps findings, and 64 KiB can hold ten thousand unknown fields: the rest is counted, not listed. */
function bounded(findings: readonly Finding[], file: string): readonly Finding[] {
  const rest = findings.slice(MAX_FINDINGS_OF_A_FILE);
  const first = rest[0];
  if (first === undefined) return findings;
  const severity = hasErrors(rest) ? 'error' : 'warning';
  const more = finding(severity, first.code, `${file} has ${rest.length} more findings.`, { file });
  return [...findings.slice(0, MAX_FINDINGS_OF_A_FILE), more];
}

function readMetadata(file: SkillFile, mode: ValidationMode): ParsedSkill {
  const context: RuleContext = { mode, file: file.path };
  const findings: Finding[] = [...ruleFileName(file.fileName, context)];
  const fenced = splitAtFences(file.bytes, file.path);
  if ('severity' in fenced) return { metadata: undefined, findings: [...findings, fenced], bodyOffset: 0 };
  const { frontmatter, bodyOffset } = fenced;
  const read = readFields(frontmatter, { file: file.path, line: fenced.frontmatterLine }, mode);
  findings.push(...read.findings);
  if (read.fields === undefined) return { metadata: undefined, findings, bodyOffset };

  const fields = read.fields;
  const field = (key: string) => fields.find((one) => one.key === key);
  const take = <Value>(ruled: { value: Value; findings: readonly Finding[] }): Value => {
    findings.push(...ruled.findings);
    return ruled.value;
  };
  const name = take(ruleName(field('name'), context));
  if (name !== undefined) findings.push(...ruleDirectory(name, file.directory, field('name')?.line, context));
  const description = take(ruleDescription(field('description'), context));
  const license = take(ruleLicense(field('license'), context));
  const compatibility = take(ruleCompatibility(field('compatibility'), context));
  const metadata = take(ruleMetadata(field('metadata'), context)) ?? new Map<string, string>();
  const allowedTools = take(ruleAllowedTools(field('allowed-tools'), context)) ?? [];
  findings.push(...ruleKnownFields(fields, context));
  if (name === undefined || description === undefined || hasErrors(findings)) {
    return { metadata: undefined, findings, bodyOffset };
  }
  const version = metadata.get('skillbucket.version');
  return {
    findings,
    bodyOffset,
    metadata: {
      name: name as SkillName,
      description,
      ...(license === undefined ? {} : { license }),
      ...(compatibility === undefined ? {} : { compatibility }),
      metadata: Object.fromEntries(metadata),
      allowedTools,
      tags: [
        ...new Set((metadata.get('skillbucket.tags') ?? '').split(/[\s,]+/).filter((tag) => tag !== '')),
      ],
      ...(version === undefined ? {} : { version }),
      disableModelInvocation: [
        field('disable-model-invocation')?.text,
        metadata.get('skillbucket.disable-model-invocation'),
      ].includes('true'),
      frontmatter,
    },
  };
}

/** Metadata and body: what publishing and activation need. The body is checked to be UTF-8 and kept verbatim. */
export function parseSkill(
  file: SkillFile,
  mode: ValidationMode,
): ParsedSkill & { readonly instructions: string | undefined } {
  if (file.bytes.length > MAX_SKILL_MD_BYTES) {
    const message = `${file.path} has ${file.bytes.length} bytes; a SKILL.md may have ${MAX_SKILL_MD_BYTES}.`;
    const tooLarge = finding('error', 'file_too_large', message, { file: file.path });
    return { metadata: undefined, findings: [tooLarge], bodyOffset: 0, instructions: undefined };
  }
  const parsed = parseSkillMetadata(file, mode);
  const instructions = decodeUtf8(file.bytes.subarray(parsed.bodyOffset));
  if (instructions !== undefined || parsed.bodyOffset === 0) {
    return { ...parsed, instructions: parsed.metadata === undefined ? undefined : instructions };
  }
  const line = firstInvalidLine(file.bytes);
  const broken = finding('error', 'not_utf8', `${file.path} line ${line} is not UTF-8.`, {
    file: file.path,
    line,
  });
  return { ...parsed, metadata: undefined, findings: [...parsed.findings, broken], instructions: undefined };
}

function readFields(
  frontmatter: string,
  place: BlockPlace,
  mode: ValidationMode,
): { fields: readonly Field[] | undefined; findings: readonly Finding[] } {
  const fields = readYamlFields(frontmatter, place);
  if (!('severity' in fields)) return { fields, findings: [] };
  if (mode === 'strict') return { fields: undefined, findings: [fields] };
  const repaired = quoteUnreadableValues(frontmatter, place);
  if (repaired === undefined) return { fields: undefined, findings: [fields] };
  const again = readYamlFields(repaired.block, place);
  if ('severity' in again) return { fields: undefined, findings: [again] };
  return { fields: again, findings: repaired.findings };
}
