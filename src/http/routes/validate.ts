import { z } from 'zod';
import { readArchive } from '../../archives/read-archive.ts';
import { ARCHIVE_LIMITS } from '../../core/limits.ts';
import { validateTree } from '../../operations/validate-tree.ts';
import { memoryTree } from '../../sources/skill-tree.ts';
import { readBody } from '../body.ts';
import { choice, readQuery } from '../query.ts';
import { sendJson } from '../respond.ts';
import type { TenantRoute } from '../route.ts';

const QUERY = z.object({ mode: choice(['strict', 'lenient'], 'strict') });

export const validateRoute: TenantRoute = {
  method: 'POST',
  path: '/v1/validate',
  scope: 'catalog:read',
  summary: 'Findings about a zip or tar.gz; nothing is stored',
  async handle(context) {
    const { mode } = readQuery(context, QUERY);
    const files = await readArchive(await readBody(context, ARCHIVE_LIMITS.maxPackedBytes), ARCHIVE_LIMITS);
    return sendJson(context, await validateTree(memoryTree(files), mode));
  },
};
