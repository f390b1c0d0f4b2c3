import { ARCHIVE_LIMITS } from '../../core/limits.ts';
import { memoryTree } from '../../sources/skill-tree.ts';
import { readBody } from '../body.ts';
import { choice, readQuery } from '../query.ts';
import { sendJson } from '../respond.ts';
import type { TenantRoute } from '../route.ts';
import * as z from '../../core/zod.ts';

const QUERY = z.object({ mode: choice(['strict', 'lenient'], 'strict') });

export const validateRoute: TenantRoute = {
  method: 'POST',
  path: '/v1/validate',
  scope: 'catalog:read',
  summary: 'Findings about a zip or tar.gz; nothing is stored',
  async handle(context) {
    const { mode } = readQuery(context, QUERY);
    // As for publishing: a cold start does without.
    const { readArchive } = await import('../../archives/read-archive.ts');
    const { validateTree } = await import('../../operations/validate-tree.ts');
    const files = await readArchive(await readBody(context, ARCHIVE_LIMITS.maxPackedBytes), ARCHIVE_LIMITS);
    return sendJson(context, await validateTree(memoryTree(files), mode));
  },
};
