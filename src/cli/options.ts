import { parseArgs } from 'node:util';
import { UsageError } from './io.ts';

export type OptionSpec = Readonly<Record<string, { readonly type: 'boolean' | 'string' }>>;

/** What was given: booleans that are set, texts as they are. */
export interface Given<Spec extends OptionSpec> {
  readonly values: {
    readonly [Name in keyof Spec]?: Spec[Name]['type'] extends 'boolean' ? boolean : string;
  };
  readonly positionals: readonly string[];
}

/** Options and positionals of a command. @throws UsageError in words, not in node's codes */
export function readOptions<const Spec extends OptionSpec>(
  args: readonly string[],
  options: Spec,
): Given<Spec> {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options,
      allowPositionals: true,
      strict: true,
    });
    return { values: values, positionals };
  } catch (error) {
    if (error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS')) {
      throw new UsageError(error.message.split('. To specify')[0] ?? error.message);
    }
    throw error;
  }
}

/** Exactly one positional. */
export function onlyOne(positionals: readonly string[], what: string): string {
  const [first, ...more] = positionals;
  if (first === undefined) throw new UsageError(`${what} is missing.`);
  if (more.length > 0) throw new UsageError(`One ${what} at a time; got ${positionals.length}.`);
  return first;
}
