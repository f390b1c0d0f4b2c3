import type { Stack } from 'aws-cdk-lib';
import { CfnElement, Validations } from 'aws-cdk-lib';
import { WILDCARDS } from './wildcards.ts';

interface Acknowledged {
  readonly where: string;
  readonly id: string;
  readonly reason: string;
}

/** Rules of cdk-nag (AwsSolutions) that the stack breaks on purpose, besides wildcards. */
const RULES: readonly Acknowledged[] = [
  {
    where: 'AccessLogs',
    id: 'AwsSolutions-S1',
    reason: 'It is the bucket of the access logs; logging its own accesses would never end.',
  },
  {
    where: 'UploadsUndelivered',
    id: 'AwsSolutions-SQS3',
    reason: 'It is the dead-letter queue of a target of EventBridge, which the rule does not look at.',
  },
  {
    where: 'Distribution',
    id: 'AwsSolutions-CFR1',
    reason: 'Agents call from wherever their hosts are; who may call is decided by keys.',
  },
  {
    where: 'Distribution',
    id: 'AwsSolutions-CFR2',
    reason:
      'No WAF by default: a caller without a key gets a 401 that reads one item at most, and a web ACL costs by the ' +
      'month and the request. docs/deploy.md says when to add one.',
  },
  {
    where: 'Distribution',
    id: 'AwsSolutions-CFR4',
    reason: "CloudFront's own name fixes its TLS policy; with -c domain the minimum is TLSv1.2_2021.",
  },
];

export function acknowledge(stack: Stack): void {
  const wildcards = WILDCARDS.map(({ where, pattern, reason }) => ({
    where: where.replace(/\/.*/, ''),
    id: `AwsSolutions-IAM5[${withLogicalIds(stack, pattern)}]`,
    reason,
  }));
  for (const { where, id, reason } of [...RULES, ...wildcards]) {
    // What is made outside us-east-1 only is not always there.
    const construct = stack.node.tryFindChild(where);
    if (construct !== undefined) Validations.of(construct).acknowledge({ id, reason });
  }
}

/** `<Bucket.Arn>` as the template has it, `<Bucket83908E77.Arn>`. */
function withLogicalIds(stack: Stack, pattern: string): string {
  return pattern.replaceAll(/<(\w+)\.Arn>/g, (text, id: string) => {
    const element = stack.node.tryFindChild(id)?.node.defaultChild;
    return CfnElement.isCfnElement(element) ? `<${String(stack.resolve(element.logicalId))}.Arn>` : text;
  });
}
