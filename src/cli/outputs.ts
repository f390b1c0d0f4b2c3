import { readFile } from 'node:fs/promises';
import { isSystemError } from '../sources/file-system.ts';
import { UsageError } from './io.ts';
import * as z from '../core/zod.ts';

/** What `cdk deploy --outputs-file` writes of our stack. */
const stackSchema = z.object({
  Url: z.string(),
  BucketName: z.string(),
  TableName: z.string(),
  Region: z.string(),
});
export type StackOutputs = z.infer<typeof stackSchema>;

/** @throws UsageError when the file is not such, or holds more than one stack of ours */
export async function readOutputs(file: string): Promise<StackOutputs> {
  const stacks = z.record(z.string(), z.unknown()).safeParse(await readJsonFile(file));
  const ours = Object.values(stacks.data ?? {}).flatMap((outputs) => {
    const stack = stackSchema.safeParse(outputs);
    return stack.success ? [stack.data] : [];
  });
  const [first] = ours;
  if (first === undefined || ours.length > 1) {
    throw new UsageError(
      `${file} holds ${ours.length === 0 ? 'no outputs' : `the outputs of ${ours.length} stacks`} of Skillbucket; write it with \`cdk deploy --outputs-file\`.`,
    );
  }
  return first;
}

async function readJsonFile(file: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    if (error instanceof SyntaxError) throw new UsageError(`${file} is not JSON.`);
    if (isSystemError(error)) throw new UsageError(`${file} cannot be read (${error.code}).`);
    throw error;
  }
}
