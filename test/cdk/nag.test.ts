import { Bucket } from 'aws-cdk-lib/aws-s3';
import type { App } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { expect, test } from 'vitest';
import { appWith } from './synthesized.ts';

/** What cdk-nag finds and nobody has acknowledged. */
const findings = (app: App): string[] =>
  new AwsSolutionsChecks(app).validateScope(app).violations.map(({ ruleName }) => ruleName);

test.each([
  { stage: 'dev', region: 'us-east-1' },
  { stage: 'prod', region: 'us-east-1' },
  { stage: 'prod', region: 'eu-central-1' },
])('[D4] cdk-nag (AwsSolutions) finds nothing in $stage, $region', (context) => {
  expect(findings(appWith(context).app)).toEqual([]);
});

test('[D4] and it would', () => {
  const { app, stack } = appWith();
  new Bucket(stack, 'Careless');
  expect(findings(app)).toEqual(['AwsSolutions-S1', 'AwsSolutions-S10']);
});
