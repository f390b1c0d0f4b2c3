import type { App } from 'aws-cdk-lib';
import { CfnOutput, Stack, Tags } from 'aws-cdk-lib';
import { acknowledge } from './acknowledged.ts';
import { alarms } from './alarms.ts';
import { api } from './api.ts';
import { dashboard } from './dashboard.ts';
import { edge } from './edge.ts';
import { indexer } from './indexer.ts';
import type { Settings } from './settings.ts';
import { storage } from './storage.ts';
import { uploads } from './uploads.ts';

/** Directories with the bundled functions. */
export interface FunctionCode {
  readonly api: string;
  readonly indexer: string;
}

/** All of one stage: `skillbucket-<stage>`. */
export function skillbucketStack(app: App, settings: Settings, code: FunctionCode): Stack {
  const stack = new Stack(app, `skillbucket-${settings.stage}`, {
    description: `Skillbucket ${settings.stage}: serves Agent Skills from a bucket`,
    env: {
      region: settings.region,
      ...(settings.account === undefined ? {} : { account: settings.account }),
    },
    terminationProtection: settings.keepData,
  });
  const stored = storage(stack, settings);
  const served = api(stack, settings, stored, code.api);
  const uploaded = uploads(stack, stored.bucket);
  const watched = {
    api: served.function,
    indexer: indexer(stack, settings, stored, uploaded, code.indexer),
    uploads: uploaded,
    table: stored.table,
    distribution: edge(stack, settings, served.url, stored.accessLogs),
  };
  alarms(stack, settings, watched);
  dashboard(stack, watched);
  const name = settings.domain?.name ?? watched.distribution.distributionDomainName;
  outputs(stack, {
    Url: `https://${name}`,
    BucketName: stored.bucket.bucketName,
    TableName: stored.table.tableName,
    Region: stack.region,
    Stage: settings.stage,
  });
  acknowledge(stack);
  Tags.of(app).add('skillbucket-stage', settings.stage);
  return stack;
}

/** Their names are stable: the command reads them from `cdk deploy --outputs-file`. */
function outputs(stack: Stack, values: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(values)) new CfnOutput(stack, name, { value });
}
