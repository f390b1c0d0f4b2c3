import { SkillError } from '../../core/errors.ts';
import type { BundleId, Digest, UploadId } from '../../core/ids.ts';
import { isUploadId } from '../../core/ids.ts';
import { uploadKey } from '../../core/manifest/object-keys.ts';
import type { UploadBegun, UploadEnded } from '../../core/manifest/upload-record.ts';
import { checkAllowedMode } from '../../operations/allowed-mode.ts';
import type { PublishOutcome } from '../../operations/publish-bundle.ts';
import { readUploadBegun, readUploadEnded } from '../../operations/upload-records.ts';
import type { TenantAccess } from '../../tenancy/tenant-access.ts';
import { readJson, readOptionalJson } from '../body.ts';
import { bundleParameter, pathParameter } from '../parameters.ts';
import { preconditionOf } from '../precondition.ts';
import { problemBody } from '../problem.ts';
import { sendJson } from '../respond.ts';
import type { AppContext, TenantRoute } from '../route.ts';
import * as z from '../../core/zod.ts';

/** 64 hex digits, as sha256sum prints them, or in our own form with the algorithm before. */
const sha256Schema = z.pipe(
  z.string().check(z.regex(/^(?:sha256:)?[0-9a-fA-F]{64}$/, 'not 64 hex digits')),
  z.transform((value: string) => `sha256:${value.replace(/^sha256:/, '').toLowerCase()}` as Digest),
);

const BEGIN_BODY = z.strictObject({
  size: z.int().check(z.minimum(1)),
  sha256: sha256Schema,
  mode: z._default(z.enum(['strict', 'lenient']), 'strict'),
});
const COMPLETE_BODY = z.strictObject({ sha256: z.exactOptional(sha256Schema) });

export const beginUploadRoute: TenantRoute = {
  method: 'POST',
  path: '/v1/bundles/:bundle/uploads',
  scope: 'bundles:write',
  summary: 'Begins an upload, or finds the same one unfinished: a signed URL for just this archive',
  async handle(context, access) {
    const bundle = bundleParameter(context);
    const body = await readJson(context, BEGIN_BODY);
    checkAllowedMode(access, body.mode);
    const precondition = preconditionOf(context);
    const { beginUpload } = await import('../../operations/begin-upload.ts');
    const { begun, put, ended } = await beginUpload(access.objects, access.transfers, {
      bundle,
      ...body,
      ...(precondition === undefined ? {} : { precondition }),
      begunBy: access.principal.id,
      now: access.now,
    });
    if (put === undefined) return sendJson(context, stateOf(context, begun, true, ended));
    const answer = {
      ...stateOf(context, begun, false, ended),
      method: 'PUT',
      url: new URL(put.url, context.req.url).href,
      headers: put.headers,
      url_expires_at: put.expiresAt.toISOString(),
    };
    return sendJson(context, answer, 201);
  },
};

export const uploadRoute: TenantRoute = {
  method: 'GET',
  path: '/v1/bundles/:bundle/uploads/:upload',
  scope: 'bundles:write',
  summary: 'An upload: what was declared, whether it has arrived, and what came of it',
  async handle(context, access) {
    const { bundle, upload } = uploadParameters(context);
    const [begun, ended, size] = await Promise.all([
      readUploadBegun(access.objects, bundle, upload),
      readUploadEnded(access.objects, bundle, upload),
      access.objects.size(uploadKey(bundle, upload)),
    ]);
    if (begun === undefined) throw new SkillError('not_found');
    return sendJson(context, stateOf(context, begun, size !== undefined, ended));
  },
};

export const completeUploadRoute: TenantRoute = {
  method: 'POST',
  path: '/v1/bundles/:bundle/uploads/:upload/complete',
  scope: 'bundles:write',
  summary: 'Publishes the uploaded archive, or reports and changes nothing; safe to repeat',
  async handle(context, access) {
    const { bundle, upload } = uploadParameters(context);
    const { sha256 } = await readOptionalJson(context, COMPLETE_BODY);
    if (sha256 !== undefined) await checkDeclared(access, bundle, upload, sha256);
    const { publishUpload } = await import('../../operations/publish-upload.ts');
    const { result } = await publishUpload(access.objects, { bundle, upload, now: access.now });
    if ('refused' in result) throw refusalOf(result.refused);
    access.changed();
    const outcome: PublishOutcome = result.published;
    return sendJson(context, outcome, outcome.outcome === 'published' ? 201 : 200);
  },
};

function uploadParameters(context: AppContext): { bundle: BundleId; upload: UploadId } {
  const upload = pathParameter(context, 'upload');
  // An id that none can have is one that is not there.
  if (!isUploadId(upload)) throw new SkillError('not_found');
  return { bundle: bundleParameter(context), upload };
}

async function checkDeclared(
  access: TenantAccess,
  bundle: BundleId,
  upload: UploadId,
  sha256: Digest,
): Promise<void> {
  const begun = await readUploadBegun(access.objects, bundle, upload);
  if (begun === undefined) throw new SkillError('not_found');
  if (begun.sha256 === sha256) return;
  throw new SkillError('upload_mismatch', {
    detail: `This upload was begun for ${begun.sha256} and not for ${sha256}.`,
  });
}

function refusalOf(refused: Extract<UploadEnded['result'], { refused: unknown }>['refused']): SkillError {
  const { code, kind, detail, findings, facts } = refused;
  return new SkillError(code, { kind, detail, findings, facts });
}

function stateOf(
  context: AppContext,
  begun: UploadBegun,
  arrived: boolean,
  ended: UploadEnded | undefined,
): object {
  const { upload, bundle, size, sha256, mode, begun_at } = begun;
  const result = ended?.result;
  const waiting = arrived ? 'uploaded' : 'waiting';
  return {
    upload_id: upload,
    bundle,
    state: result === undefined ? waiting : 'published' in result ? result.published.outcome : 'refused',
    size,
    sha256,
    mode,
    begun_at,
    ...(ended === undefined ? {} : { ended_at: ended.ended_at }),
    ...(result !== undefined && 'published' in result ? { outcome: result.published } : {}),
    ...(result !== undefined && 'refused' in result
      ? { problem: problemBody(refusalOf(result.refused), context.get('requestId')) }
      : {}),
    complete: `/v1/bundles/${bundle}/uploads/${upload}/complete`,
  };
}
