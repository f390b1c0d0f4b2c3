import * as z from 'zod';
import { checked } from './body.ts';
import type { AppContext } from './route.ts';

/**
 * Query parameters: repeatable ones come as arrays, others must be given once. Unknown ones are passed over, as caches
 * and proxies add their own. The schema is made once, by the route: making one costs more than answering.
 *
 * @throws SkillError invalid_request naming the parameter
 */
export function readQuery<Shape extends z.ZodRawShape>(
  context: AppContext,
  schema: z.ZodObject<Shape>,
): z.infer<z.ZodObject<Shape>> {
  const all = context.req.queries();
  const given = Object.fromEntries(
    Object.keys(schema.shape)
      .filter((name) => Object.hasOwn(all, name))
      .map((name) => [name, all[name]]),
  );
  return checked(schema, given, 'query');
}

const once = z
  .array(z.string())
  .refine((values) => values.length === 1, 'given more than once')
  .transform((values) => values[0] ?? '');

export const text = once.optional();
export const list = z.array(z.string()).default([]);
export const flag = once
  .pipe(z.enum(['true', 'false', '1', '0']))
  .transform((value) => value === 'true' || value === '1')
  .default(false);
export const integer = (min: number, max: number) =>
  once
    .refine((value) => /^-?\d+$/.test(value), 'not a whole number')
    .transform(Number)
    .pipe(z.number().min(min).max(max));
export const choice = <const Values extends readonly [string, ...string[]]>(
  values: Values,
  fallback: Values[number],
) => once.pipe(z.enum(values)).default(fallback as never);
