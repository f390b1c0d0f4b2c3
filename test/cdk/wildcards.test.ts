import type { App } from 'aws-cdk-lib';
import { CfnResource } from 'aws-cdk-lib';
import { AnyPrincipal, PolicyStatement, Role } from 'aws-cdk-lib/aws-iam';
import { expect, test } from 'vitest';
import type { Wildcard } from '../../cdk/wildcards.ts';
import { WILDCARDS } from '../../cdk/wildcards.ts';
import { statementsOf, wildcardsOf } from './statements.ts';
import { appWith, templatesOf } from './synthesized.ts';

/** All that differs: a stage that keeps its data, a region with a second stack, every option. */
const DEPLOYMENTS = [
  { stage: 'dev', region: 'us-east-1' },
  { stage: 'prod', region: 'us-east-1' },
  {
    stage: 'prod',
    region: 'eu-central-1',
    alarmTopic: 'arn:aws:sns:eu-central-1:123456789012:alarms',
    domain: 'skills.example.com',
    certificate: 'arn:aws:acm:us-east-1:123456789012:certificate/1',
  },
];

const keyOf = ({ where, pattern }: Pick<Wildcard, 'where' | 'pattern'>): string => `${where} ${pattern}`;

/** What a template names and the list does not. */
function unexplained(app: App): string[] {
  const known = new Set(WILDCARDS.map(keyOf));
  return [...templatesOf(app).values()].flatMap((template) =>
    wildcardsOf(template)
      .map(keyOf)
      .filter((one) => !known.has(one)),
  );
}

test('[D4] no template names a wildcard action or resource without a written reason', () => {
  expect(DEPLOYMENTS.flatMap((context) => unexplained(appWith(context).app))).toEqual([]);
  expect(WILDCARDS.filter(({ reason }) => reason.length < 20)).toEqual([]);
});

test('[D4] no reason is written for a wildcard that is not there', () => {
  const named = new Set(
    DEPLOYMENTS.flatMap((context) => [...templatesOf(appWith(context).app).values()])
      .flatMap(wildcardsOf)
      .map(keyOf),
  );
  expect(WILDCARDS.map(keyOf).filter((one) => !named.has(one))).toEqual([]);
  expect(new Set(WILDCARDS.map(keyOf)).size).toBe(WILDCARDS.length);
});

test.each([
  [
    'an action',
    { actions: ['s3:Get*'], resources: ['arn:aws:s3:::x/y'] },
    'ApiRole/DefaultPolicy Action::s3:Get*',
  ],
  ['every resource', { actions: ['s3:GetObject'], resources: ['*'] }, 'ApiRole/DefaultPolicy Resource::*'],
  [
    'a part of a name',
    { actions: ['s3:GetObject'], resources: ['arn:aws:s3:::x/tenants/?'] },
    'ApiRole/DefaultPolicy Resource::arn:aws:s3:::x/tenants/?',
  ],
  [
    'everything but',
    { notActions: ['s3:GetObject'], resources: ['arn:aws:s3:::x'] },
    'ApiRole/DefaultPolicy Action::*',
  ],
])('[D4] the check notices %s', (_, statement, expected) => {
  const { app, stack } = appWith();
  const role = stack.node.findChild('ApiRole');
  if (!(role instanceof Role)) throw new Error('ApiRole is no role.');
  role.addToPolicy(new PolicyStatement(statement));
  expect(unexplained(app)).toEqual([expected]);
});

test('[D4] the check notices a permission for every source, and a policy of a queue', () => {
  const { app, stack } = appWith();
  new CfnResource(stack, 'Open', {
    type: 'AWS::Lambda::Permission',
    properties: { Action: 'lambda:InvokeFunction', FunctionName: 'x', Principal: 's3.amazonaws.com' },
  });
  new CfnResource(stack, 'Wide', {
    type: 'AWS::SQS::QueuePolicy',
    properties: {
      Queues: ['x'],
      PolicyDocument: {
        Statement: new PolicyStatement({
          actions: ['sqs:SendMessage'],
          resources: ['arn:aws:sqs:*'],
          principals: [new AnyPrincipal()],
        }).toJSON() as unknown,
      },
    },
  });
  expect(unexplained(app)).toEqual(['Open Resource::*', 'Wide Resource::arn:aws:sqs:*']);
});

test('[D4] nothing is allowed to everybody', () => {
  const open = DEPLOYMENTS.flatMap((context) => [...templatesOf(appWith(context).app).values()])
    .flatMap(statementsOf)
    .filter(({ effect, principals }) => effect === 'Allow' && principals.includes('*'));
  expect(open).toEqual([]);
});
