/**
 * Every `*` in an action or a resource that the templates name, and why. A test (test/cdk/wildcards.test.ts) compares the
 * list with the templates: what is not here fails, and so does a row that nothing needs.
 */
export interface Wildcard {
  /** The construct, below its stack. */
  readonly where: string;
  /** As cdk-nag writes it. */
  readonly pattern: string;
  readonly reason: string;
}

const rows = (wheres: readonly string[], patterns: readonly string[], reason: string): Wildcard[] =>
  wheres.flatMap((where) => patterns.map((pattern) => ({ where, pattern, reason })));

const API = 'ApiRole/DefaultPolicy';
const INDEXER = 'IndexerRole/DefaultPolicy';
const ARN_READER = 'Custom::CrossRegionStringParameterReaderCustomResourceProvider/Role';

export const WILDCARDS: readonly Wildcard[] = [
  ...rows(
    [API, INDEXER],
    ['Resource::<Bucket.Arn>/tenants/*'],
    'One deployment serves every tenant, known or to come; a request is bound to its own by src/tenancy/mint-access.ts. ' +
      'Reading only.',
  ),
  ...rows(
    [API, INDEXER],
    ['files', 'skills', 'bundles', 'upload-records'].map(
      (folder) => `Resource::<Bucket.Arn>/tenants/*/${folder}/*`,
    ),
    'What a publication writes, of any tenant, under names made of ids and digests.',
  ),
  ...rows(
    [API],
    ['Resource::<Bucket.Arn>/tenants/*/uploads/*'],
    'A presigned URL may do what its signer may, and the signer names the one object.',
  ),
  ...rows(
    ['Bucket/Policy'],
    ['Action::s3:*', 'Resource::<Bucket.Arn>/*'],
    'A denial: whatever comes without TLS.',
  ),
  ...rows(
    ['AccessLogs/Policy'],
    ['Action::s3:*', 'Resource::<AccessLogs.Arn>/*'],
    'A denial: whatever comes without TLS.',
  ),
  ...rows(
    ['AccessLogs/Policy'],
    ['Resource::<AccessLogs.Arn>/bucket/*'],
    "S3's log delivery names its files itself; it may write below this prefix, for our bucket and account alone.",
  ),
  ...rows(
    ['Uploads/Policy', 'UploadsFailed/Policy', 'UploadsUndelivered/Policy'],
    ['Action::sqs:*'],
    'A denial: whatever comes without TLS.',
  ),
  ...rows(
    [ARN_READER],
    ['Resource::arn:<AWS::Partition>:ssm:us-east-1:<AWS::AccountId>:parameter/cdk/EdgeFunctionArn/*'],
    'Outside us-east-1 the CDK reads the version of the edge function from a parameter below this prefix, which is its own.',
  ),
  ...rows(
    [ARN_READER],
    ['Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole'],
    "The role of the CDK's own function for that; the policy lets it write logs, of any name. It runs at deployments only.",
  ),
];
