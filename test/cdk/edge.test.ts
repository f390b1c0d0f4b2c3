import type { Template } from 'aws-cdk-lib/assertions';
import { beforeAll, describe, expect, test } from 'vitest';
import { CATALOG_PATHS } from '../../cdk/edge.ts';
import { ROUTES } from '../../src/http/route-table.ts';
import { appWith, templateWith, templatesOf } from './synthesized.ts';

interface Behavior {
  readonly PathPattern?: string;
  readonly CachePolicyId: unknown;
  readonly FunctionAssociations: { EventType: string }[];
  readonly LambdaFunctionAssociations?: { EventType: string; IncludeBody: boolean }[];
}

interface DistributionConfig {
  readonly DefaultCacheBehavior: Behavior;
  readonly CacheBehaviors: Behavior[];
  readonly CustomErrorResponses: { ErrorCode: number; ErrorCachingMinTTL: number }[];
}

// Ids of policies that AWS manages (CloudFront developer guide).
const CACHING_DISABLED = '4135ea2d-6df8-44a3-9df3-4b5a84be39ad';
const ALL_VIEWER_EXCEPT_HOST = 'b689b0a8-53d0-40ab-baf2-68738e2966ac';

let template: Template;
let config: DistributionConfig;

const distributionOf = (from: Template): DistributionConfig => {
  const [found] = Object.values(from.findResources('AWS::CloudFront::Distribution')) as {
    Properties: { DistributionConfig: DistributionConfig };
  }[];
  if (found === undefined) throw new Error('There is no distribution.');
  return found.Properties.DistributionConfig;
};

beforeAll(() => {
  template = templateWith({ stage: 'prod' });
  config = distributionOf(template);
});

describe('[D4] CloudFront in front of the URL', () => {
  test('signs every request to the URL', () => {
    template.hasResourceProperties('AWS::CloudFront::OriginAccessControl', {
      OriginAccessControlConfig: {
        OriginAccessControlOriginType: 'lambda',
        SigningBehavior: 'always',
        SigningProtocol: 'sigv4',
      },
    });
    expect(config).toMatchObject({
      Origins: [{ CustomOriginConfig: { OriginProtocolPolicy: 'https-only', OriginReadTimeout: 60 } }],
      HttpVersion: 'http2and3',
      Logging: { Prefix: 'edge/' },
    });
  });

  test('takes HTTPS alone, passes all but the host, and moves the key out of the way, whatever the path', () => {
    for (const behavior of [config.DefaultCacheBehavior, ...config.CacheBehaviors]) {
      expect(behavior).toMatchObject({
        ViewerProtocolPolicy: 'https-only',
        OriginRequestPolicyId: ALL_VIEWER_EXCEPT_HOST,
        FunctionAssociations: [{ EventType: 'viewer-request' }],
      });
    }
  });

  test('hashes bodies where there can be one, and caches nothing there', () => {
    expect(config.DefaultCacheBehavior).toMatchObject({
      CachePolicyId: CACHING_DISABLED,
      AllowedMethods: ['GET', 'HEAD', 'OPTIONS', 'PUT', 'PATCH', 'POST', 'DELETE'],
      LambdaFunctionAssociations: [{ EventType: 'origin-request', IncludeBody: true }],
    });
  });

  test('the catalog is compressed, told apart by key, and kept no longer than its origin allows', () => {
    expect(config.CacheBehaviors.map(({ PathPattern }) => PathPattern)).toEqual(CATALOG_PATHS);
    for (const behavior of config.CacheBehaviors) {
      expect(behavior).toMatchObject({ Compress: true, AllowedMethods: ['GET', 'HEAD', 'OPTIONS'] });
      expect(behavior.LambdaFunctionAssociations).toBeUndefined();
      expect(behavior.CachePolicyId).toEqual({ Ref: expect.stringMatching(/^CatalogCache/) as string });
    }
    template.hasResourceProperties('AWS::CloudFront::CachePolicy', {
      CachePolicyConfig: {
        MinTTL: 0,
        DefaultTTL: 0,
        MaxTTL: 5,
        ParametersInCacheKeyAndForwardedToOrigin: {
          HeadersConfig: { HeaderBehavior: 'whitelist', Headers: ['x-skillbucket-authorization', 'accept'] },
          QueryStringsConfig: { QueryStringBehavior: 'all' },
          CookiesConfig: { CookieBehavior: 'none' },
          EnableAcceptEncodingGzip: true,
          EnableAcceptEncodingBrotli: true,
        },
      },
    });
  });

  test('below the paths of the catalog there are GET routes only: a body would not be hashed', () => {
    const patterns = CATALOG_PATHS.map((path) => new RegExp(`^${path.replace('*', '.*')}$`));
    const routes = ROUTES.filter(({ path }) => patterns.some((pattern) => pattern.test(path)));
    expect(routes.length).toBeGreaterThan(2);
    expect(routes.filter(({ method }) => method !== 'GET')).toEqual([]);
  });

  test('errors are not kept, since one tenant would get the error of another', () => {
    const kept = config.CustomErrorResponses.filter(({ ErrorCachingMinTTL }) => ErrorCachingMinTTL > 0);
    expect(kept).toEqual([]);
    expect(config.CustomErrorResponses.map(({ ErrorCode }) => ErrorCode)).toEqual([
      400, 403, 404, 405, 414, 416, 500, 501, 502, 503, 504,
    ]);
  });

  test("with a name of one's own, TLS 1.2 at least", () => {
    const own = templateWith({
      domain: 'skills.example.com',
      certificate: 'arn:aws:acm:us-east-1:123456789012:certificate/1',
    });
    expect(distributionOf(own)).toMatchObject({
      Aliases: ['skills.example.com'],
      ViewerCertificate: { MinimumProtocolVersion: 'TLSv1.2_2021', SslSupportMethod: 'sni-only' },
    });
  });

  test('elsewhere than in us-east-1 the edge function gets a stack there', () => {
    const { app } = appWith({ stage: 'prod', region: 'eu-central-1' });
    const templates = templatesOf(app);
    expect([...templates.keys()].sort()).toEqual(['skillbucket-prod', 'skillbucket-prod-edge']);
    const beside = templates.get('skillbucket-prod-edge')?.Resources ?? {};
    expect(Object.values(beside).map(({ Type }) => Type)).toEqual([
      'AWS::IAM::Role',
      'AWS::Lambda::Function',
      'AWS::Lambda::Version',
      'AWS::SSM::Parameter',
    ]);
    const { Properties = {} } =
      Object.values(beside).find(({ Type }) => Type === 'AWS::Lambda::Function') ?? {};
    expect(Properties).toMatchObject({ Handler: 'index.handler', Runtime: 'nodejs24.x' });
    // What a function at the edge may not have.
    expect(Object.keys(Properties)).not.toContain('Environment');
    expect(Object.keys(Properties)).not.toContain('Architectures');
  });
});
