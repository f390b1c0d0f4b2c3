import { randomUUID } from 'node:crypto';
import { canonicalJson } from '../core/canonical-json.ts';
import { sha256 } from '../core/digests.ts';
import { SkillError } from '../core/errors.ts';
import type { ValidationMode } from '../core/format/skill-document.ts';
import type { BundleId, Digest, UploadId } from '../core/ids.ts';
import { hexOf } from '../core/ids.ts';
import { ARCHIVE_LIMITS, UPLOAD_URL_SECONDS } from '../core/limits.ts';
import { LIFETIME_DAYS } from '../core/manifest/lifetimes.ts';
import type { Manifest } from '../core/manifest/manifest.ts';
import { uploadBegunKey, uploadKey } from '../core/manifest/object-keys.ts';
import type { UploadBegun, UploadEnded } from '../core/manifest/upload-record.ts';
import { jsonBytes } from '../storage/json.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import type { SignedPut, Transfers } from '../storage/transfers.ts';
import { readManifest } from './publish-bundle.ts';
import { readUploadBegun, readUploadEnded } from './upload-records.ts';

export interface BeginUploadInput {
  readonly bundle: BundleId;
  /** Of the archive. */
  readonly size: number;
  readonly sha256: Digest;
  readonly mode: ValidationMode;
  /** Checked now; if it holds, the state that it holds for is the only one that may be replaced. */
  readonly precondition?: (current: Manifest | undefined) => boolean;
  readonly begunBy: string;
  readonly now: () => Date;
}

export interface UploadTicket {
  readonly begun: UploadBegun;
  /** Where to put the archive; absent when it is there already. */
  readonly put?: SignedPut & { readonly expiresAt: Date };
  /** What came of it, when the very same was uploaded before and the bundle has not changed since. */
  readonly ended?: UploadEnded;
}

/** Refused archives that are sent again unchanged get a new upload each time; this many are told apart by number. */
const NUMBERED_ATTEMPTS = 20;
/** An archive that is about to expire is not relied on. */
const RESUMABLE_MILLISECONDS = ((LIFETIME_DAYS.upload * 24) / 2) * 60 * 60 * 1000;

/**
 * Begins an upload, or finds the one that was begun with the same archive while the bundle was in the same state: a
 * publisher that was cut off goes on where it stopped.
 *
 * @param objects bound to the tenant
 * @throws SkillError archive_too_large; revision_conflict when the precondition fails
 */
export async function beginUpload(
  objects: ObjectStore,
  transfers: Transfers,
  input: BeginUploadInput,
): Promise<UploadTicket> {
  if (input.size > ARCHIVE_LIMITS.maxPackedBytes) {
    throw new SkillError('archive_too_large', {
      detail: `The archive has ${input.size} bytes; at most ${ARCHIVE_LIMITS.maxPackedBytes} are allowed.`,
      facts: { size: input.size, limit: ARCHIVE_LIMITS.maxPackedBytes },
    });
  }
  const current = (await readManifest(objects, input.bundle))?.manifest;
  if (input.precondition?.(current) === false) {
    throw new SkillError('revision_conflict', {
      detail: `Bundle "${input.bundle}" is not in the state that the precondition names.`,
      kind: 'precondition',
    });
  }
  for (let attempt = 0; ; attempt += 1) {
    const begun = await declare(objects, input, current, attempt);
    if (input.now().getTime() - Date.parse(begun.begun_at) > RESUMABLE_MILLISECONDS) continue;
    const ended = await readUploadEnded(objects, input.bundle, begun.upload);
    if (ended !== undefined && 'refused' in ended.result) continue;
    if (ended !== undefined) return { begun, ended };
    const key = uploadKey(input.bundle, begun.upload);
    if ((await objects.size(key)) === input.size) return { begun };
    const put = await transfers.signPut(
      key,
      { size: input.size, sha256: input.sha256, lifetime: 'upload' },
      UPLOAD_URL_SECONDS,
    );
    return { begun, put: { ...put, expiresAt: new Date(input.now().getTime() + UPLOAD_URL_SECONDS * 1000) } };
  }
}

/** The record of this attempt, made now or found. */
async function declare(
  objects: ObjectStore,
  input: BeginUploadInput,
  current: Manifest | undefined,
  attempt: number,
): Promise<UploadBegun> {
  const conditional = input.precondition !== undefined;
  const generation = current?.generation ?? 0;
  const asOf = current?.as_of;
  const upload = uploadId([
    input.sha256,
    input.size,
    input.mode,
    generation,
    // Begun again after somebody else's act, it comes after that act.
    asOf ?? '',
    conditional,
    attempt < NUMBERED_ATTEMPTS ? attempt : randomUUID(),
  ]);
  const begun: UploadBegun = {
    schema: 1,
    upload,
    bundle: input.bundle,
    size: input.size,
    sha256: input.sha256,
    mode: input.mode,
    generation,
    ...(asOf === undefined ? {} : { as_of: asOf }),
    conditional,
    begun_at: input.now().toISOString(),
    begun_by: input.begunBy,
  };
  const outcome = await objects.put(
    uploadBegunKey(input.bundle, upload),
    jsonBytes(begun),
    'absent',
    'record',
  );
  if (outcome !== 'stale') return begun;
  return (await readUploadBegun(objects, input.bundle, upload)) ?? begun;
}

/** Equal for equal parts. Not a secret: whoever uses it has a credential of the tenant, or a signed URL. */
function uploadId(parts: readonly (string | number | boolean)[]): UploadId {
  return hexOf(sha256(canonicalJson(parts))).slice(0, 32) as UploadId;
}
