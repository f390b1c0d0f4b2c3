import { readArchive } from '../archives/read-archive.ts';
import { sha256 } from '../core/digests.ts';
import type { ErrorKind } from '../core/errors.ts';
import { SkillError } from '../core/errors.ts';
import type { BundleId, UploadId } from '../core/ids.ts';
import { ARCHIVE_LIMITS } from '../core/limits.ts';
import type { Manifest } from '../core/manifest/manifest.ts';
import { uploadEndedKey, uploadKey } from '../core/manifest/object-keys.ts';
import type { UploadBegun, UploadEnded } from '../core/manifest/upload-record.ts';
import { memoryTree } from '../sources/skill-tree.ts';
import { jsonBytes } from '../storage/json.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import { mustGet } from '../storage/object-store.ts';
import { publishBundle } from './publish-bundle.ts';
import type { PublishOutcome } from './publish-bundle.ts';
import { readUploadBegun, readUploadEnded } from './upload-records.ts';

/**
 * Publishes an uploaded archive and records what came of it (D5). Called by whoever completes the upload and by every
 * event about its arrival, any number of times, in any order and at once: it publishes once, and all are told the same.
 * A crash at any point leaves the old state served, and calling it again converges.
 *
 * @param objects bound to the tenant
 * @throws SkillError not_found for an upload that was never begun; upload_incomplete; unavailable (nothing is recorded,
 *   try again)
 */
export async function publishUpload(
  objects: ObjectStore,
  input: { readonly bundle: BundleId; readonly upload: UploadId; readonly now: () => Date },
): Promise<UploadEnded> {
  const [begun, known] = await Promise.all([
    readUploadBegun(objects, input.bundle, input.upload),
    readUploadEnded(objects, input.bundle, input.upload),
  ]);
  if (known !== undefined) return known;
  if (begun === undefined) throw new SkillError('not_found', { detail: 'There is no such upload.' });
  const ended: UploadEnded = {
    schema: 1,
    upload: input.upload,
    result: await resultOf(objects, begun, input.now),
    ended_at: input.now().toISOString(),
  };
  const key = uploadEndedKey(input.bundle, input.upload);
  if ((await objects.put(key, jsonBytes(ended), 'absent', 'record')) !== 'stale') return ended;
  return (await readUploadEnded(objects, input.bundle, input.upload)) ?? ended;
}

async function resultOf(
  objects: ObjectStore,
  begun: UploadBegun,
  now: () => Date,
): Promise<UploadEnded['result']> {
  try {
    const { bundle, mode, generation, conditional } = begun;
    const outcome = await publishBundle(objects, {
      bundle,
      // Read when it is needed: an upload that was published already may have no archive any more.
      tree: async () => memoryTree(await readArchive(await archiveOf(objects, begun), ARCHIVE_LIMITS)),
      mode,
      publishedBy: begun.begun_by,
      upload: { id: begun.upload, begunAt: begun.begun_at, generation, asOf: begun.as_of },
      ...(conditional ? { precondition: isGeneration(generation) } : {}),
      now,
    });
    return { published: recorded(outcome) };
  } catch (error) {
    if (!(error instanceof SkillError) || !isFinal(error)) throw error;
    const { code, kind, message, findings, facts } = error;
    return { refused: { code, kind, detail: message, findings: [...findings], facts } };
  }
}

/** The archive, if it is the one that was declared: not every server holds a client to what was signed. */
async function archiveOf(objects: ObjectStore, begun: UploadBegun): Promise<Uint8Array> {
  const key = uploadKey(begun.bundle, begun.upload);
  const size = await objects.size(key);
  if (size === undefined) throw new SkillError('upload_incomplete');
  // Before it is read: a size that was not declared may be any size.
  if (size !== begun.size) {
    throw new SkillError('upload_mismatch', {
      detail: `The archive has ${size} bytes; ${begun.size} were declared.`,
    });
  }
  const { bytes } = await mustGet(objects, key);
  const digest = sha256(bytes);
  if (digest !== begun.sha256) {
    throw new SkillError('upload_mismatch', {
      detail: `The archive has the digest ${digest}; ${begun.sha256} was declared.`,
    });
  }
  return bytes;
}

const isGeneration =
  (generation: number) =>
  (current: Manifest | undefined): boolean =>
    (current?.generation ?? 0) === generation;

/** Whether trying the same again would end the same. */
function isFinal(error: SkillError): boolean {
  return error.code !== 'upload_incomplete' && FINAL[error.kind];
}

const FINAL: Readonly<Record<ErrorKind, boolean>> = {
  malformed: true,
  invalid: true,
  unauthenticated: true,
  forbidden: true,
  not_found: true,
  conflict: true,
  precondition: true,
  range: true,
  method: true,
  too_large: true,
  limited: false,
  unavailable: false,
  internal: false,
};

function recorded(outcome: PublishOutcome) {
  const { outcome: what, revision, generation, findings, ...rest } = outcome;
  if (what === 'validated' || revision === undefined || generation === undefined) {
    throw new TypeError('An upload is never a dry run.');
  }
  return { ...rest, outcome: what, revision, generation, findings: [...findings] };
}
