import { SkillError } from '../../core/errors.ts';
import { MAX_ANSWER_FILE_BYTES, MAX_ANSWER_TEXT_BYTES } from '../../core/limits.ts';
import type { LoadedResource } from '../../operations/load-resource.ts';
import { readJson } from '../body.ts';
import { existingName } from '../parameters.ts';
import { sendBytes, sendElsewhere, sendJson, sendJsonText, wantsBytes } from '../respond.ts';
import type { TenantRoute } from '../route.ts';
import { contextSchema, sessionOf } from '../tool-call.ts';
import * as z from '../../core/zod.ts';

const BODY = z.strictObject({
  name: z.string(),
  context: contextSchema,
  relative_path: z.exactOptional(z.string()),
  resource_id: z.exactOptional(z.string()),
});

export const loadSkillResourceRoute: TenantRoute = {
  method: 'POST',
  path: '/v1/tools/load_skill_resource',
  scope: 'skills:load',
  counts: 'loads',
  summary: 'Reads one listed resource of a skill that is active in the session',
  async handle(context, access) {
    const body = await readJson(context, BODY);
    const session = sessionOf(body.context);
    // It classifies, so it brings the table of MIME types along, which listing does without.
    const { loadResource } = await import('../../operations/load-resource.ts');
    const resource = await loadResource(access, {
      name: existingName(body.name),
      session,
      relativePath: pathOf(body),
    });
    if (resource.size <= MAX_ANSWER_FILE_BYTES) {
      if (wantsBytes(context)) return sendBytes(context, resource);
      const body = JSON.stringify(toolResult(resource));
      if (Buffer.byteLength(body, 'utf8') <= MAX_ANSWER_TEXT_BYTES) return sendJsonText(context, body);
    }
    const url = await resource.link();
    if (url !== undefined) {
      return sendElsewhere(context, new URL(url, context.req.url).href, metadataOf(resource));
    }
    return wantsBytes(context) ? sendBytes(context, resource) : sendJson(context, toolResult(resource));
  },
};

function pathOf(body: z.infer<typeof BODY>): string {
  if (body.relative_path !== undefined && body.resource_id === undefined) return body.relative_path;
  if (body.resource_id !== undefined && body.relative_path === undefined) {
    throw new SkillError('resource_not_listed', {
      detail: 'This skill lists files: select one by relative_path and not by resource_id.',
    });
  }
  throw new SkillError('invalid_request', { detail: 'Send either relative_path or resource_id.' });
}

function metadataOf(resource: LoadedResource): object {
  const { name, relative_path, kind, mime_type, filename, size, digest } = resource;
  return { name, relative_path, kind, mime_type, filename, size, digest };
}

/** Text is in `content`; anything else is in `content_parts`, so that the tool payload holds no raw bytes. */
function toolResult(resource: LoadedResource): object {
  const { kind, mime_type, filename } = resource;
  const metadata = metadataOf(resource);
  if (resource.text !== undefined) return { ...metadata, content: resource.text };
  const data = Buffer.from(resource.bytes).toString('base64');
  return { ...metadata, content_parts: [{ type: kind, mime_type, filename, data }] };
}
