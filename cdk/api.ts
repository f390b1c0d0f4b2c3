import { Duration } from 'aws-cdk-lib';
import type { IFunctionUrl, Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { FunctionUrlAuthType, InvokeMode } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { apiPermissions } from './permissions.ts';
import { serviceFunction } from './service-function.ts';
import type { Settings } from './settings.ts';
import type { Storage } from './storage.ts';

export interface Api {
  readonly function: LambdaFunction;
  readonly url: IFunctionUrl;
}

export function api(scope: Construct, settings: Settings, storage: Storage, code: string): Api {
  const { bucket, table } = storage;
  const made = serviceFunction(scope, 'Api', settings, {
    description: 'the HTTP API',
    code,
    handler: 'index.streaming',
    // More than half a processor, for cold starts; an archive of the largest body unpacks within it.
    memorySize: 1024,
    // As long as CloudFront waits for an answer.
    timeout: Duration.seconds(60),
    environment: {
      SKILLBUCKET_BUCKET: bucket.bucketName,
      SKILLBUCKET_TABLE: table.tableName,
      SKILLBUCKET_LOG_LEVEL: 'info',
    },
    permissions: apiPermissions(bucket, table),
  });
  const url = made.addFunctionUrl({
    // CloudFront signs; a request that comes another way is refused before it costs anything.
    authType: FunctionUrlAuthType.AWS_IAM,
    // A buffered answer ends at 6 MB, and its bytes travel as base64.
    invokeMode: InvokeMode.RESPONSE_STREAM,
  });
  return { function: made, url };
}
