import type { Template } from 'aws-cdk-lib/assertions';
import { Match } from 'aws-cdk-lib/assertions';
import { beforeAll, describe, expect, test } from 'vitest';
import { LIFETIME_DAYS, LIFETIME_TAG } from '../../src/core/manifest/lifetimes.ts';
import { appWith, resourceOf, templateWith } from './synthesized.ts';

let prod: Template;
let dev: Template;

beforeAll(() => {
  prod = templateWith({ stage: 'prod' });
  dev = templateWith();
});

describe('[D4] storage', () => {
  test('the bucket is private, encrypted, versioned, and sends events', () => {
    expect(resourceOf(prod, 'Bucket').Properties).toMatchObject({
      BucketEncryption: {
        ServerSideEncryptionConfiguration: [{ ServerSideEncryptionByDefault: { SSEAlgorithm: 'AES256' } }],
      },
      PublicAccessBlockConfiguration: {
        BlockPublicAcls: true,
        BlockPublicPolicy: true,
        IgnorePublicAcls: true,
        RestrictPublicBuckets: true,
      },
      OwnershipControls: { Rules: [{ ObjectOwnership: 'BucketOwnerEnforced' }] },
      VersioningConfiguration: { Status: 'Enabled' },
      NotificationConfiguration: { EventBridgeConfiguration: { EventBridgeEnabled: true } },
    });
  });

  test('buckets and queues refuse what comes without TLS', () => {
    const denial = (action: string) => ({
      PolicyDocument: {
        Statement: Match.arrayWith([
          Match.objectLike({
            Effect: 'Deny',
            Action: action,
            Principal: { AWS: '*' },
            Condition: { Bool: { 'aws:SecureTransport': 'false' } },
          }),
        ]),
      },
    });
    prod.resourcePropertiesCountIs('AWS::S3::BucketPolicy', denial('s3:*'), 2);
    prod.resourcePropertiesCountIs('AWS::SQS::QueuePolicy', denial('sqs:*'), 3);
    prod.resourcePropertiesCountIs('AWS::SQS::Queue', { SqsManagedSseEnabled: true }, 3);
  });

  test('what passes is deleted by its tag, old versions after 90 days, halves of uploads after one', () => {
    expect(resourceOf(prod, 'Bucket').Properties).toMatchObject({
      LifecycleConfiguration: {
        Rules: [
          {
            NoncurrentVersionExpiration: { NoncurrentDays: 90 },
            ExpiredObjectDeleteMarker: true,
            AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 },
          },
          {
            TagFilters: [{ Key: LIFETIME_TAG, Value: 'upload' }],
            ExpirationInDays: LIFETIME_DAYS.upload,
          },
          {
            TagFilters: [{ Key: LIFETIME_TAG, Value: 'record' }],
            ExpirationInDays: LIFETIME_DAYS.record,
          },
        ],
      },
    });
  });

  test('the table: the keys of the local one, on demand, with expiry and recovery to a point in time', () => {
    expect(resourceOf(prod, 'Table').Properties).toMatchObject({
      AttributeDefinitions: [
        { AttributeName: 'pk', AttributeType: 'S' },
        { AttributeName: 'sk', AttributeType: 'S' },
      ],
      KeySchema: [
        { AttributeName: 'pk', KeyType: 'HASH' },
        { AttributeName: 'sk', KeyType: 'RANGE' },
      ],
      BillingMode: 'PAY_PER_REQUEST',
      TimeToLiveSpecification: { AttributeName: 'expires_at', Enabled: true },
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      DeletionProtectionEnabled: true,
    });
  });

  test('every stage but dev keeps its data', () => {
    const kept = (template: Template): (string | undefined)[] =>
      ['Bucket', 'AccessLogs', 'Table'].map((place) => resourceOf(template, place).DeletionPolicy);
    expect(kept(prod)).toEqual(['Retain', 'Retain', 'Retain']);
    expect(kept(dev)).toEqual(['Delete', 'Delete', 'Delete']);
    expect(kept(templateWith({ stage: 'staging' }))).toEqual(['Retain', 'Retain', 'Retain']);
    expect(resourceOf(dev, 'Table').Properties?.['DeletionProtectionEnabled']).toBe(false);
    expect([appWith({ stage: 'prod' }), appWith()].map(({ stack }) => stack.terminationProtection)).toEqual([
      true,
      false,
    ]);
  });
});
