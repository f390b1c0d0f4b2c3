import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Duration, Stack, Stage } from 'aws-cdk-lib';
import {
  Function as EdgeScript,
  FunctionCode,
  FunctionRuntime,
  experimental,
} from 'aws-cdk-lib/aws-cloudfront';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Code } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { transformSync } from 'esbuild';
import { packageRoot } from '../src/package-root.ts';
import { RUNTIME } from './service-function.ts';
import type { Settings } from './settings.ts';

/** Lambda@Edge functions are made there and nowhere else. */
export const EDGE_REGION = 'us-east-1';

const SOURCES = path.join(packageRoot(), 'cdk', 'edge');

/** The caller's key past the signature. */
export function copyAuthorization(scope: Construct): EdgeScript {
  return new EdgeScript(scope, 'CopyAuthorization', {
    comment: "Skillbucket: the caller's key travels in x-skillbucket-authorization",
    code: FunctionCode.fromFile({ filePath: path.join(SOURCES, 'copy-authorization.js') }),
    runtime: FunctionRuntime.JS_2_0,
  });
}

/** The hash of the body for the signature. */
export function hashBody(scope: Construct, settings: Settings): experimental.EdgeFunction {
  const home = edgeStack(scope, settings);
  return new experimental.EdgeFunction(scope, 'HashBody', {
    description: `Skillbucket ${settings.stage}: the hash of a body, for CloudFront's signature`,
    stackId: home.node.id,
    runtime: RUNTIME,
    handler: 'index.handler',
    code: Code.fromInline(hashBodySource()),
    // The processor comes with the memory, and 1 MiB wants to be parsed and hashed while the caller waits.
    memorySize: 256,
    timeout: Duration.seconds(5),
    // May do nothing, not even write a log: it has nothing to tell, and its log groups would come up in every region
    // and stay for ever.
    role: new Role(home, 'HashBodyRole', {
      assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
      description: `Skillbucket ${settings.stage}: hashes bodies, without any permission`,
    }),
  });
}

/** What is deployed: CommonJS, as inline code is. */
export function hashBodySource(): string {
  const source = readFileSync(path.join(SOURCES, 'hash-body.ts'), 'utf8');
  return transformSync(source, { loader: 'ts', format: 'cjs', target: 'node24' }).code;
}

/** The stack itself in us-east-1, else a small one beside it. */
function edgeStack(scope: Construct, settings: Settings): Stack {
  const stack = Stack.of(scope);
  if (settings.region === EDGE_REGION) return stack;
  const app = Stage.of(scope);
  if (app === undefined) throw new Error('The stack belongs into an app.');
  return new Stack(app, `${stack.node.id}-edge`, {
    description: `Skillbucket ${settings.stage}: what has to be in ${EDGE_REGION}`,
    env: { region: EDGE_REGION, account: stack.account },
    terminationProtection: settings.keepData,
  });
}
