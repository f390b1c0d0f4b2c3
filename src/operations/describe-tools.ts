import type { Catalog } from '../core/catalog/catalog.ts';
import { MAX_TOKEN_LIMIT } from '../core/limits.ts';

/** A tool in the shape that model APIs take: JSON Schema parameters. The host adds `context` itself. */
export interface ToolDefinition {
  readonly type: 'function';
  readonly name: 'load_skill' | 'load_skill_resource';
  readonly description: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** The two tools of progressive disclosure (J1); with `catalog` the name is limited to what it holds. */
export function describeTools(catalog: Catalog | undefined): readonly ToolDefinition[] {
  const name = {
    type: 'string',
    description: 'The name of a skill, exactly as in the list of available skills.',
    ...(catalog === undefined ? {} : { enum: catalog.skills.map(({ entry }) => entry.name) }),
  };
  return [
    {
      type: 'function',
      name: 'load_skill',
      description:
        'Loads the instructions of one skill and the list of its resources. Call it when a task clearly matches the description of the skill, before doing the task.',
      parameters: {
        type: 'object',
        properties: {
          name,
          force: {
            type: 'boolean',
            description: 'Repeat the instructions although the skill is loaded already.',
          },
          max_tokens: {
            type: 'integer',
            minimum: 1,
            maximum: MAX_TOKEN_LIMIT,
            description: 'The most tokens that the instructions may take.',
          },
        },
        required: ['name'],
        additionalProperties: false,
      },
    },
    {
      type: 'function',
      name: 'load_skill_resource',
      description:
        'Reads one resource of a skill that was loaded with load_skill before: a reference, script or asset from its list.',
      parameters: {
        type: 'object',
        properties: {
          name,
          relative_path: {
            type: 'string',
            description: 'The relative_path of the resource, exactly as load_skill listed it.',
          },
        },
        required: ['name', 'relative_path'],
        additionalProperties: false,
      },
    },
  ];
}
