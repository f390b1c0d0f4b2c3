/**
 * The one table of error codes. Codes are stable and public; wording is not.
 * Each shell (HTTP, CLI, later MCP) maps *kinds* in one place, so a new kind does not compile until all answer.
 */

/** What sort of refusal it is; shells translate the kind, never the code. */
export type ErrorKind =
  | 'malformed' // the request could not be read at all (JSON syntax, broken percent-encoding)
  | 'invalid'
  | 'unauthenticated'
  | 'forbidden'
  | 'not_found'
  | 'conflict'
  | 'precondition' // an If-Match that the caller sent no longer holds
  | 'range' // a byte range outside the file
  | 'method' // the path exists, not with this method
  | 'too_large'
  | 'limited'
  | 'unavailable'
  | 'internal';

interface ErrorEntry {
  readonly kind: ErrorKind;
  /** A short sentence for people; never holds internals. */
  readonly title: string;
  /** What to do about it. */
  readonly fix: string;
}

const entry = (kind: ErrorKind, title: string, fix: string): ErrorEntry => ({ kind, title, fix });

export const ERRORS = {
  // SKILL.md and its folder
  no_frontmatter: entry(
    'invalid',
    'The file has no YAML frontmatter.',
    'Begin SKILL.md with a line `---`, then `name:` and `description:`, then a line `---`.',
  ),
  invalid_yaml: entry(
    'invalid',
    'The frontmatter is not valid YAML.',
    'Quote values that hold `: `, ` #` or begin with a YAML sign such as `[`, `!`, `&` or `*`.',
  ),
  missing_field: entry('invalid', 'A required field is missing.', 'Add the field to the frontmatter.'),
  invalid_name: entry(
    'invalid',
    'The skill name is not valid.',
    'Use 1-64 characters of a-z, 0-9 and single inner hyphens.',
  ),
  invalid_field: entry('invalid', 'A field has a value that is not allowed.', 'Correct the value.'),
  unknown_field: entry(
    'invalid',
    'A top-level field is not in the Agent Skills specification.',
    'Move it below `metadata` under a namespaced key, or publish in lenient mode.',
  ),
  directory_name_mismatch: entry(
    'invalid',
    'The skill name differs from its directory.',
    'Rename the directory or the skill so that both are the same.',
  ),
  wrong_file_name: entry('invalid', 'The file is not named exactly SKILL.md.', 'Rename it to SKILL.md.'),
  not_utf8: entry('invalid', 'The file is not UTF-8 text.', 'Save the file as UTF-8.'),
  frontmatter_too_large: entry(
    'invalid',
    'The frontmatter is larger than 65,536 bytes.',
    'Move long text into the body or into references/.',
  ),
  duplicate_skill: entry(
    'invalid',
    'Two skills in one root have the same name.',
    'Rename or remove one of the two.',
  ),
  shadowed_skill: entry(
    'invalid',
    'A skill of that name in an earlier root wins.',
    'Rename one of the two if both should be visible.',
  ),
  untrusted_skill_path: entry(
    'forbidden',
    'The root is not trusted.',
    'Pass an explicit trust decision for this root.',
  ),
  discovery_limit_exceeded: entry(
    'too_large',
    'Discovery visited more directories than allowed.',
    'Point at a narrower root, exclude directories, or raise the limit.',
  ),
  no_skills_found: entry(
    'invalid',
    'No SKILL.md was found.',
    'Put each skill into a folder of its own with a SKILL.md.',
  ),
  unreadable: entry('unavailable', 'The path could not be read.', 'Check that it exists and may be read.'),

  // Findings that only tell what was done
  repaired_yaml: entry(
    'invalid',
    'A value was quoted so that the frontmatter could be read.',
    'Put the value in quotes.',
  ),
  file_left_out: entry('invalid', 'A file was left out.', 'Nothing, if that is as it should be.'),
  secret_refused: entry(
    'invalid',
    'A file looks like a secret.',
    'Remove it from the skill: agents of the whole tenant read what is published.',
  ),
  nested_skill: entry(
    'invalid',
    'A SKILL.md inside another skill is a resource of the outer one.',
    'Move it out of the outer skill if it should be a skill of its own.',
  ),
  large_skill: entry(
    'invalid',
    'The skill is larger than agent hosts are obliged to load.',
    'Keep a skill within 512 files and 16 MiB.',
  ),

  // Using skills
  skill_not_found: entry(
    'not_found',
    'There is no skill of that name.',
    'List the catalog for current names.',
  ),
  skill_changed: entry(
    'conflict',
    'The skill changed since it was listed.',
    'Refresh the catalog and retry.',
  ),
  skill_not_activated: entry(
    'conflict',
    'The skill is not loaded in this session.',
    'Call load_skill in the same session first.',
  ),
  missing_session: entry(
    'invalid',
    'The call names no session.',
    'Send context.session_id, context.agent_id or context.request_id.',
  ),
  resource_not_listed: entry(
    'forbidden',
    'The resource is not in the listing that this session was given.',
    'Use a path from the listing that load_skill returned.',
  ),
  resource_not_found: entry(
    'not_found',
    'The resource does not exist.',
    'Load the skill again for a fresh listing.',
  ),
  invalid_resource_path: entry(
    'invalid',
    'The path is not a relative path inside the skill.',
    'Use a relative_path exactly as load_skill listed it.',
  ),
  skill_md_not_a_resource: entry(
    'invalid',
    'The root SKILL.md is not a resource.',
    'Its text is the instructions that load_skill returns.',
  ),
  symlink_refused: entry('invalid', 'The path is a symbolic link.', 'Replace the link by a regular file.'),
  hard_link_refused: entry(
    'invalid',
    'The file is a hard link of SKILL.md.',
    'Replace the link by a file of its own.',
  ),
  file_too_large: entry('too_large', 'The file is larger than allowed.', 'Split it or raise the limit.'),
  text_too_large: entry('too_large', 'The text is larger than allowed.', 'Split it or raise max_text_bytes.'),
  binary_rejected: entry(
    'forbidden',
    'Binary resources are not allowed here.',
    'Allow them by policy (binary: "allow").',
  ),
  signature_mismatch: entry(
    'invalid',
    'The content is not what its name or MIME type says.',
    'Give the file the extension of its real format.',
  ),
  invalid_resource_id: entry(
    'invalid',
    'The resource id is not valid.',
    'Use a resource_id exactly as load_skill listed it.',
  ),
  provider_failed: entry('unavailable', 'The resource provider failed.', 'Try again later.'),
  provider_timeout: entry('unavailable', 'The resource provider did not answer in time.', 'Try again later.'),
  invalid_provider_response: entry(
    'unavailable',
    'The resource provider answered something invalid.',
    'Tell the owner of the provider.',
  ),

  // Archives and bundles
  archive_unsafe: entry(
    'invalid',
    'The archive holds an entry that is not allowed.',
    'Pack only regular files and directories below one folder.',
  ),
  archive_too_large: entry(
    'too_large',
    'The archive exceeds a limit.',
    'Publish in smaller bundles or remove large files.',
  ),
  archive_invalid: entry(
    'invalid',
    'The archive cannot be read.',
    'Send a zip or a gzip-compressed tar, complete and unencrypted.',
  ),
  upload_incomplete: entry(
    'conflict',
    'The archive has not arrived.',
    'PUT the archive to the URL of the upload, with the headers that came with it, then complete it.',
  ),
  upload_mismatch: entry(
    'invalid',
    'The archive is not the one that was declared.',
    'Begin an upload with the size and sha256 of what you send.',
  ),
  revision_conflict: entry(
    'conflict',
    'The bundle was changed by somebody else.',
    'Read the current revision and try again.',
  ),

  // Requests
  invalid_request: entry('invalid', 'The request is not valid.', 'Correct the named part of the request.'),
  unauthenticated: entry(
    'unauthenticated',
    'A valid credential is required.',
    'Send `Authorization: Bearer <key>`.',
  ),
  forbidden: entry('forbidden', 'The credential does not allow this.', 'Use a key with the needed scope.'),
  not_found: entry('not_found', 'There is nothing here.', 'Check the path.'),
  payload_too_large: entry('too_large', 'The request body is too large.', 'Send a smaller body.'),
  rate_limited: entry('limited', 'Too many requests.', 'Wait a moment, then try again.'),
  unavailable: entry('unavailable', 'The service cannot answer now.', 'Try again in a moment.'),
  internal: entry(
    'internal',
    'Something went wrong on our side.',
    'Try again; quote the request id if it persists.',
  ),
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof ERRORS;

export type Severity = 'error' | 'warning' | 'info';

/** A diagnostic that does not stop the work by itself. `line` is 1-based within `file`. */
export interface Finding {
  readonly severity: Severity;
  readonly code: ErrorCode;
  readonly message: string;
  readonly file?: string;
  readonly line?: number;
  readonly fix: string;
}

export interface ErrorDetails {
  /** Public; names the thing, its value and the limit. */
  readonly detail?: string;
  readonly findings?: readonly Finding[];
  /** For codes that answer differently by circumstance (a failed If-Match, malformed JSON). */
  readonly kind?: ErrorKind;
  readonly retryAfterSeconds?: number;
  /** Extra public facts, for a program (`path`, `limit`). */
  readonly facts?: Readonly<Record<string, string | number>>;
  /** What went wrong inside: logged, never told. */
  readonly cause?: unknown;
}

/** An expected refusal. Everything else that is thrown is an incident and becomes `internal`. */
export class SkillError extends Error {
  readonly code: ErrorCode;
  readonly kind: ErrorKind;
  readonly title: string;
  readonly fix: string;
  readonly findings: readonly Finding[];
  readonly retryAfterSeconds: number | undefined;
  readonly facts: Readonly<Record<string, string | number>>;

  constructor(code: ErrorCode, details: ErrorDetails = {}) {
    const { kind, title, fix } = ERRORS[code];
    super(details.detail ?? title, details.cause === undefined ? {} : { cause: details.cause });
    this.name = 'SkillError';
    this.code = code;
    this.kind = details.kind ?? kind;
    this.title = title;
    this.fix = fix;
    this.findings = details.findings ?? [];
    this.retryAfterSeconds = details.retryAfterSeconds;
    this.facts = details.facts ?? {};
  }
}

/** Makes a finding; the fix comes from the table unless a better one is known. */
export function finding(
  severity: Severity,
  code: ErrorCode,
  message: string,
  at: { file?: string | undefined; line?: number | undefined; fix?: string | undefined } = {},
): Finding {
  return {
    severity,
    code,
    message,
    ...(at.file === undefined ? {} : { file: at.file }),
    ...(at.line === undefined ? {} : { line: at.line }),
    fix: at.fix ?? ERRORS[code].fix,
  };
}

export function hasErrors(findings: readonly Finding[]): boolean {
  return findings.some((one) => one.severity === 'error');
}
