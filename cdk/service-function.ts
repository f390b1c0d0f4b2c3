import type { Duration } from 'aws-cdk-lib';
import { RemovalPolicy } from 'aws-cdk-lib';
import type { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { logPermissions } from './permissions.ts';
import type { Settings } from './settings.ts';

export interface ServiceFunctionProps {
  readonly description: string;
  /** A directory that `npm run bundle` made. */
  readonly code: string;
  readonly handler: string;
  readonly memorySize: number;
  readonly timeout: Duration;
  readonly environment: Readonly<Record<string, string>>;
  readonly permissions: readonly PolicyStatement[];
}

/** The newest LTS, by its number: an alias would change the runtime of a deployed service with an upgrade of the CDK. */
export const RUNTIME = lambda.Runtime.NODEJS_24_X;

/** A function with a role and a log group of its own, and nothing but the permissions that are given. */
export function serviceFunction(
  scope: Construct,
  id: string,
  settings: Settings,
  props: ServiceFunctionProps,
): lambda.Function {
  const logGroup = new LogGroup(scope, `${id}Logs`, {
    retention: settings.keepData ? RetentionDays.THREE_MONTHS : RetentionDays.ONE_WEEK,
    removalPolicy: RemovalPolicy.DESTROY,
  });
  const role = new Role(scope, `${id}Role`, {
    assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
    description: `Skillbucket ${settings.stage}: ${props.description}`,
  });
  for (const statement of [...props.permissions, logPermissions(logGroup)]) role.addToPolicy(statement);
  return new lambda.Function(scope, id, {
    description: `Skillbucket ${settings.stage}: ${props.description}`,
    runtime: RUNTIME,
    // Cheaper by a fifth, and nothing here is native.
    architecture: lambda.Architecture.ARM_64,
    code: lambda.Code.fromAsset(props.code),
    handler: props.handler,
    memorySize: props.memorySize,
    timeout: props.timeout,
    environment: { ...props.environment },
    role,
    logGroup,
    // No tracing: the log has a request id and times, and X-Ray wants a wildcard in the role.
    tracing: lambda.Tracing.DISABLED,
  });
}
