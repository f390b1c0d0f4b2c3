import { checked } from './body.ts';
import type { AppContext } from './route.ts';
import * as z from '../core/zod.ts';

/**
 * Query parameters: repeatable ones come as arrays, others must be given once. Unknown ones are passed over, as caches
 * and proxies add their own. The schema is made once, by the route: making one costs more than answering.
 *
 * @throws SkillError invalid_request naming the parameter
 */
export function readQuery<Shape extends z.core.$ZodShape>(
  context: AppContext,
  schema: z.core.$ZodObject<Shape>,
): z.infer<z.core.$ZodObject<Shape>> {
  const all = context.req.queries();
  const given = Object.fromEntries(
    Object.keys(schema._zod.def.shape)
      .filter((name) => Object.hasOwn(all, name))
      .map((name) => [name, all[name]]),
  );
  return checked(schema, given, 'query');
}

const once = z.pipe(
  z.array(z.string()).check(z.refine((values) => values.length === 1, 'given more than once')),
  z.transform((values: string[]) => values[0] ?? ''),
);

export const text = z.optional(once);
export const list = z._default(z.array(z.string()), []);
export const flag = z._default(
  z.pipe(
    z.pipe(once, z.enum(['true', 'false', '1', '0'])),
    z.transform((value) => value === 'true' || value === '1'),
  ),
  false,
);
export const integer = (min: number, max: number) =>
  z.pipe(
    z.pipe(once.check(z.refine((value) => /^-?\d+$/.test(value), 'not a whole number')), z.transform(Number)),
    z.number().check(z.minimum(min), z.maximum(max)),
  );
export const choice = <const Values extends readonly [string, ...string[]]>(
  values: Values,
  fallback: Values[number],
) => z._default(z.pipe(once, z.enum(values)), fallback);
