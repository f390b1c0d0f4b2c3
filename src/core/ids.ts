import { SkillError } from './errors.ts';
import { codePoints } from './format/utf8.ts';
import { MAX_NAME_CHARACTERS, MAX_SESSION_ID_CHARACTERS } from './limits.ts';

/**
 * Ids whose constructor is the only validator. All of them end up in object keys or table keys, so none but session
 * ids can hold a separator; session ids are encoded where they are used.
 */
declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };

export type TenantId = Branded<'TenantId'>;
export type BundleId = Branded<'BundleId'>;
export type SkillName = Branded<'SkillName'>;
export type SessionId = Branded<'SessionId'>;
/** 32 lower-case hex digits. */
export type UploadId = Branded<'UploadId'>;
/** `sha256:` and 64 lower-case hex digits. */
export type Digest = Branded<'Digest'>;

const SLUG = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
const UPLOAD = /^[0-9a-f]{32}$/;
const DIGEST = /^sha256:[0-9a-f]{64}$/;

/** Agent Skills specification, `name`: 1-64 of a-z, 0-9 and single inner hyphens. */
export function isSkillName(value: string): value is SkillName {
  return value.length <= MAX_NAME_CHARACTERS && SLUG.test(value);
}

export function isTenantId(value: string): value is TenantId {
  return value.length <= 64 && SLUG.test(value);
}

export function isBundleId(value: string): value is BundleId {
  return value.length <= 64 && SLUG.test(value);
}

export function isUploadId(value: string): value is UploadId {
  return UPLOAD.test(value);
}

export function isDigest(value: string): value is Digest {
  return DIGEST.test(value);
}

export function tenantId(value: string): TenantId {
  if (isTenantId(value)) return value;
  throw new SkillError('invalid_request', {
    detail: `Tenant id ${show(value)} is not 1-64 characters of a-z, 0-9 and single inner hyphens.`,
  });
}

export function bundleId(value: string): BundleId {
  if (isBundleId(value)) return value;
  throw new SkillError('invalid_request', {
    detail: `Bundle name ${show(value)} is not 1-64 characters of a-z, 0-9 and single inner hyphens.`,
  });
}

export function skillName(value: string): SkillName {
  if (isSkillName(value)) return value;
  throw new SkillError('invalid_name', { detail: `${show(value)} is not a valid skill name.` });
}

/** Opaque, 1-256 characters, well-formed Unicode (a lone surrogate would not survive storage). */
export function sessionId(value: string): SessionId {
  const length = codePoints(value).length;
  if (length >= 1 && length <= MAX_SESSION_ID_CHARACTERS && value.isWellFormed()) return value as SessionId;
  throw new SkillError('invalid_request', {
    detail: `A session id has 1-${MAX_SESSION_ID_CHARACTERS} characters of well-formed Unicode; this has ${length}.`,
  });
}

export function digest(value: string): Digest {
  if (isDigest(value)) return value;
  throw new TypeError(`Not a digest: ${show(value)}`);
}

/** The 64 hex digits, for object keys. */
export function hexOf(value: Digest): string {
  return value.slice('sha256:'.length);
}

/** A caller's value in a message: quoted, short, without control characters. */
export function show(value: string): string {
  const short = value.length > 80 ? `${value.slice(0, 77)}...` : value;
  return JSON.stringify(short);
}
