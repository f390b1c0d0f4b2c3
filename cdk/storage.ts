import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import * as s3 from 'aws-cdk-lib/aws-s3';
import type { Construct } from 'constructs';
import type { Lifetime } from '../src/core/manifest/lifetimes.ts';
import { LIFETIME_DAYS, LIFETIME_TAG } from '../src/core/manifest/lifetimes.ts';
import type { Settings } from './settings.ts';

export interface Storage {
  readonly bucket: s3.IBucket;
  readonly table: dynamodb.Table;
  /** Who read the bucket and who called the service, for 90 days. */
  readonly accessLogs: s3.IBucket;
}

/** How long a replaced or deleted object can be brought back; then a deletion is final, as a tenant may demand. */
const RESTORE_DAYS = 90;

export function storage(scope: Construct, settings: Settings): Storage {
  const accessLogs = bucketOf(scope, 'AccessLogs', {
    ...PRIVATE,
    // CloudFront delivers its logs by access control list.
    objectOwnership: s3.ObjectOwnership.BUCKET_OWNER_PREFERRED,
    lifecycleRules: [{ id: 'old-logs', expiration: Duration.days(90) }],
    removalPolicy: removal(settings),
  });
  const bucket = bucketOf(scope, 'Bucket', {
    ...PRIVATE,
    objectOwnership: s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
    versioned: true,
    lifecycleRules: [
      {
        id: 'old-versions',
        noncurrentVersionExpiration: Duration.days(RESTORE_DAYS),
        expiredObjectDeleteMarker: true,
        abortIncompleteMultipartUploadAfter: Duration.days(1),
      },
      passing('upload'),
      passing('record'),
    ],
    serverAccessLogsBucket: accessLogs,
    serverAccessLogsPrefix: 'bucket/',
    removalPolicy: removal(settings),
  });
  sendEvents(bucket);
  const table = new dynamodb.Table(scope, 'Table', {
    partitionKey: { name: 'pk', type: dynamodb.AttributeType.STRING },
    sortKey: { name: 'sk', type: dynamodb.AttributeType.STRING },
    billingMode: dynamodb.BillingMode.PAY_PER_REQUEST,
    timeToLiveAttribute: 'expires_at',
    pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
    deletionProtection: settings.keepData,
    removalPolicy: removal(settings),
  });
  return { bucket, table, accessLogs };
}

/** As an interface: its class has a property that may be undefined, which the interface, read exactly, forbids. */
function bucketOf(scope: Construct, id: string, props: s3.BucketProps): s3.IBucket {
  return new s3.Bucket(scope, id, props) as s3.IBucket;
}

const PRIVATE = {
  blockPublicAccess: s3.BlockPublicAccess.BLOCK_ALL,
  encryption: s3.BucketEncryption.S3_MANAGED,
  enforceSSL: true,
} as const;

const removal = (settings: Settings): RemovalPolicy =>
  settings.keepData ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY;

/** By tag, since the tenant stands first in a key; what is expired stays for one day as an old version. */
const passing = (lifetime: Lifetime): s3.LifecycleRule => ({
  id: `passing-${lifetime}`,
  tagFilters: { [LIFETIME_TAG]: lifetime },
  expiration: Duration.days(LIFETIME_DAYS[lifetime]),
  noncurrentVersionExpiration: Duration.days(1),
});

/** `eventBridgeEnabled` of the construct would bring a function that may change the notifications of every bucket. */
function sendEvents(bucket: s3.IBucket): void {
  const resource = bucket.node.defaultChild as s3.CfnBucket;
  resource.notificationConfiguration = { eventBridgeConfiguration: { eventBridgeEnabled: true } };
}
