import * as z from '../src/core/zod.ts';

/** What is decided at deployment: `-c stage=prod -c region=eu-central-1 …`. */
export interface Settings {
  readonly stage: string;
  readonly region: string;
  /** Unknown without credentials; `cdk synth` needs none. */
  readonly account: string | undefined;
  /** False for `dev` alone: every other stage keeps bucket and table when the stack is deleted. */
  readonly keepData: boolean;
  /** Where alarms are sent; without it they are seen in the console only. */
  readonly alarmTopicArn: string | undefined;
  /** A name of one's own, with its certificate in us-east-1. */
  readonly domain: { readonly name: string; readonly certificateArn: string } | undefined;
}

const text = z.string().check(z.minLength(1));
const arn = z.string().check(z.startsWith('arn:'));

const schema = z.object({
  // Part of the names of stacks; and short, because a function's name ends at 64 characters.
  stage: z.string().check(z.regex(/^[a-z][a-z0-9-]{0,19}$/, 'use up to 20 of a-z, 0-9 and hyphens')),
  region: z.string().check(z.regex(/^[a-z]{2}(?:-[a-z]+)+-\d$/, 'not the name of a region')),
  alarmTopic: z.optional(arn),
  domain: z.optional(text),
  certificate: z.optional(arn),
});

/** @throws Error naming the context value that is not valid */
export function readSettings(
  context: (name: string) => unknown,
  environment: Readonly<Record<string, string | undefined>>,
): Settings {
  const parsed = z.safeParse(schema, {
    stage: context('stage') ?? 'dev',
    region: context('region') ?? environment['CDK_DEFAULT_REGION'] ?? 'us-east-1',
    alarmTopic: context('alarmTopic'),
    domain: context('domain'),
    certificate: context('certificate'),
  });
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw new Error(`-c ${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'not valid'}.`);
  }
  const { stage, region, alarmTopic, domain, certificate } = parsed.data;
  if ((domain === undefined) !== (certificate === undefined)) {
    throw new Error('-c domain and -c certificate belong together.');
  }
  return {
    stage,
    region,
    account: environment['CDK_DEFAULT_ACCOUNT'],
    keepData: stage !== 'dev',
    alarmTopicArn: alarmTopic,
    domain:
      domain === undefined || certificate === undefined
        ? undefined
        : { name: domain, certificateArn: certificate },
  };
}
