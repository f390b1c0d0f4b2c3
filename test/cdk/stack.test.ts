import type { Template } from 'aws-cdk-lib/assertions';
import { Match } from 'aws-cdk-lib/assertions';
import { beforeAll, describe, expect, test } from 'vitest';
import { readSettings } from '../../cdk/settings.ts';
import { resourceOf, templateWith } from './synthesized.ts';

let prod: Template;
let dev: Template;

beforeAll(() => {
  prod = templateWith({ stage: 'prod' });
  dev = templateWith();
});

describe('[D4] functions', () => {
  test('the API streams its answers, behind a URL that wants a signature', () => {
    expect(resourceOf(prod, 'Api').Properties).toMatchObject({
      Handler: 'index.streaming',
      Runtime: 'nodejs24.x',
      Architectures: ['arm64'],
      Timeout: 60,
      Environment: {
        Variables: {
          SKILLBUCKET_BUCKET: { Ref: expect.stringMatching(/^Bucket/) as string },
          SKILLBUCKET_TABLE: { Ref: expect.stringMatching(/^Table/) as string },
          SKILLBUCKET_LOG_LEVEL: 'info',
        },
      },
    });
    prod.hasResourceProperties('AWS::Lambda::Url', { AuthType: 'AWS_IAM', InvokeMode: 'RESPONSE_STREAM' });
  });

  test('the indexer knows the bucket alone', () => {
    const indexer = resourceOf(prod, 'Indexer').Properties as { Environment: { Variables: object } };
    expect(indexer).toMatchObject({ Handler: 'index.handler', Runtime: 'nodejs24.x', Timeout: 300 });
    expect(Object.keys(indexer.Environment.Variables)).toEqual(['SKILLBUCKET_BUCKET']);
  });

  test('logs are kept for a time', () => {
    prod.resourcePropertiesCountIs('AWS::Logs::LogGroup', { RetentionInDays: 90 }, 2);
    dev.resourcePropertiesCountIs('AWS::Logs::LogGroup', { RetentionInDays: 7 }, 2);
  });
});

describe('[D4] uploads', () => {
  test('an uploaded archive goes from the bucket to the queue, with a place for events that do not arrive', () => {
    prod.hasResourceProperties('AWS::Events::Rule', {
      EventPattern: {
        source: ['aws.s3'],
        'detail-type': ['Object Created'],
        detail: {
          bucket: { name: [{ Ref: Match.anyValue() }] },
          object: { key: [{ wildcard: 'tenants/*/uploads/*' }] },
        },
      },
      Targets: [Match.objectLike({ DeadLetterConfig: Match.anyValue(), RetryPolicy: Match.anyValue() })],
    });
  });

  test('the queue waits six times as long as the function may run, and gives up after five times', () => {
    const { Timeout } = resourceOf(prod, 'Indexer').Properties as { Timeout: number };
    expect(resourceOf(prod, 'Uploads').Properties).toMatchObject({
      VisibilityTimeout: 6 * Timeout,
      RedrivePolicy: { maxReceiveCount: 5 },
      MessageRetentionPeriod: 14 * 24 * 60 * 60,
    });
    prod.hasResourceProperties('AWS::Lambda::EventSourceMapping', {
      BatchSize: 5,
      FunctionResponseTypes: ['ReportBatchItemFailures'],
      ScalingConfig: { MaximumConcurrency: 5 },
    });
  });
});

describe('[D4] watching', () => {
  test('alarms on errors, throttles, age and what was put aside; each says what to do', () => {
    const found = Object.values(prod.findResources('AWS::CloudWatch::Alarm')) as {
      Properties: Record<string, unknown>;
    }[];
    expect(found.map(({ Properties }) => Properties['MetricName'] ?? 'sum of operations').sort()).toEqual(
      [
        '5xxErrorRate',
        'ApproximateAgeOfOldestMessage',
        'ApproximateNumberOfMessagesVisible',
        'ApproximateNumberOfMessagesVisible',
        'Errors',
        'Errors',
        'Throttles',
        'Throttles',
        'Url5xxCount',
        'sum of operations',
      ].sort(),
    );
    for (const { Properties } of found) {
      expect(Properties['AlarmDescription']).toMatch(/^Skillbucket prod: .{30}/);
      expect(Properties['TreatMissingData']).toBe('notBreaching');
      expect(Properties['AlarmActions']).toBeUndefined();
    }
    prod.resourceCountIs('AWS::CloudWatch::Dashboard', 1);
  });

  test('alarms are sent where -c alarmTopic says', () => {
    const topic = 'arn:aws:sns:us-east-1:123456789012:alarms';
    templateWith({ alarmTopic: topic }).allResourcesProperties('AWS::CloudWatch::Alarm', {
      AlarmActions: [topic],
      OKActions: [topic],
    });
  });
});

describe('[D4] stages', () => {
  test('outputs have the names that the command reads', () => {
    const outputs = prod.toJSON()['Outputs'] as Record<string, { Value: unknown }>;
    expect(Object.keys(outputs).sort()).toEqual(['BucketName', 'Region', 'Stage', 'TableName', 'Url']);
    expect(outputs['Region']?.Value).toBe('us-east-1');
    expect(outputs['Stage']?.Value).toBe('prod');
    const own = templateWith({
      domain: 'skills.example.com',
      certificate: 'arn:aws:acm:us-east-1:123456789012:certificate/1',
    });
    own.hasOutput('Url', { Value: 'https://skills.example.com' });
  });

  test('a setting that cannot be is named', () => {
    const read = (given: Record<string, string>) => () => readSettings((name) => given[name], {});
    expect(read({ stage: 'Prod!' })).toThrow('-c stage: use up to 20');
    expect(read({ region: 'europe' })).toThrow('-c region');
    expect(read({ domain: 'skills.example.com' })).toThrow('belong together');
    expect(readSettings(() => undefined, { CDK_DEFAULT_REGION: 'eu-west-1' })).toMatchObject({
      stage: 'dev',
      region: 'eu-west-1',
      keepData: false,
    });
  });
});
