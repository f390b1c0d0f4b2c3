import { filterByTags } from '../../core/catalog/catalog.ts';
import { renderPrompt } from '../../core/catalog/prompt.ts';
import { DEFAULT_TOKEN_LIMIT, MAX_TOKEN_LIMIT } from '../../core/limits.ts';
import { choice, flag, integer, list, readQuery, text } from '../query.ts';
import { etagOf, sendRendered } from '../respond.ts';
import type { TenantRoute } from '../route.ts';
import * as z from '../../core/zod.ts';

const QUERY = z.object({
  format: choice(['markdown', 'xml'], 'markdown'),
  tags: list,
  tag_match: choice(['any', 'all'], 'any'),
  include_allowed_tools: flag,
  include_location: flag,
  header: text,
  load_instruction: text,
  max_tokens: z._default(integer(1, MAX_TOKEN_LIMIT), DEFAULT_TOKEN_LIMIT),
});

export const catalogPromptRoute: TenantRoute = {
  method: 'GET',
  path: '/v1/catalog/prompt',
  scope: 'catalog:read',
  summary: 'The compact catalog as text for a system prompt, within a token budget',
  async handle(context, access, { rendered }) {
    const query = readQuery(context, QUERY);
    const catalog = await access.catalog();
    return sendRendered(context, etagOf(catalog.digest), () =>
      rendered.get([access.tenant, catalog.digest, 'prompt', JSON.stringify(query)], () => {
        const skills = filterByTags(catalog.skills, { tags: query.tags, match: query.tag_match });
        const prompt = renderPrompt(skills, {
          format: query.format,
          includeAllowedTools: query.include_allowed_tools,
          includeLocation: query.include_location,
          header: query.header,
          loadInstruction: query.load_instruction,
          maxTokens: query.max_tokens,
        });
        return {
          body: prompt.text,
          headers: {
            'content-type':
              query.format === 'xml' ? 'text/plain; charset=utf-8' : 'text/markdown; charset=utf-8',
            'x-skills-shown': String(prompt.shown),
            'x-skills-total': String(prompt.total),
            'x-estimated-tokens': String(prompt.estimatedTokens),
          },
        };
      }),
    );
  },
};
