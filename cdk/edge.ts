import { Duration } from 'aws-cdk-lib';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import * as cloudfront from 'aws-cdk-lib/aws-cloudfront';
import { FunctionUrlOrigin } from 'aws-cdk-lib/aws-cloudfront-origins';
import type { IFunctionUrl } from 'aws-cdk-lib/aws-lambda';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import type { Construct } from 'constructs';
import { copyAuthorization, hashBody } from './edge-functions.ts';
import type { Settings } from './settings.ts';

/** Only GET routes live here, so no body has to be hashed. */
export const CATALOG_PATHS = ['/v1/catalog*', '/v1/tools'];

/** CloudFront in front of the function URL (docs/decisions/edge-access.md). */
export function edge(
  scope: Construct,
  settings: Settings,
  url: IFunctionUrl,
  accessLogs: IBucket,
): cloudfront.Distribution {
  const common = {
    origin: FunctionUrlOrigin.withOriginAccessControl(url, {
      readTimeout: Duration.seconds(60),
      keepaliveTimeout: Duration.seconds(60),
    }),
    // No redirect: a key that was sent in plain text has to be noticed.
    viewerProtocolPolicy: cloudfront.ViewerProtocolPolicy.HTTPS_ONLY,
    // The function URL is found by its own host name.
    originRequestPolicy: cloudfront.OriginRequestPolicy.ALL_VIEWER_EXCEPT_HOST_HEADER,
    responseHeadersPolicy: cloudfront.ResponseHeadersPolicy.SECURITY_HEADERS,
    functionAssociations: [
      { function: copyAuthorization(scope), eventType: cloudfront.FunctionEventType.VIEWER_REQUEST },
    ],
  };
  const catalog: cloudfront.BehaviorOptions = {
    ...common,
    allowedMethods: cloudfront.AllowedMethods.ALLOW_GET_HEAD_OPTIONS,
    cachePolicy: catalogCache(scope, settings),
  };
  return new cloudfront.Distribution(scope, 'Distribution', {
    comment: `Skillbucket ${settings.stage}`,
    defaultBehavior: {
      ...common,
      allowedMethods: cloudfront.AllowedMethods.ALLOW_ALL,
      cachePolicy: cloudfront.CachePolicy.CACHING_DISABLED,
      edgeLambdas: [
        {
          functionVersion: hashBody(scope, settings).currentVersion,
          eventType: cloudfront.LambdaEdgeEventType.ORIGIN_REQUEST,
          includeBody: true,
        },
      ],
    },
    additionalBehaviors: Object.fromEntries(CATALOG_PATHS.map((path) => [path, catalog])),
    errorResponses: ERRORS_NOT_KEPT,
    httpVersion: cloudfront.HttpVersion.HTTP2_AND_3,
    ...ownName(scope, settings),
    enableLogging: true,
    logBucket: accessLogs,
    logFilePrefix: 'edge/',
  });
}

/**
 * CloudFront compresses where caching is on, and keeps nothing that the origin calls `private`, as long as the minimum is
 * zero. The origin calls every answer so: a key that was revoked, or a tenant's new revision, must not meet an old
 * answer at one of the edges. The key of the cache keeps tenants apart should the origin ever allow more.
 */
function catalogCache(scope: Construct, settings: Settings): cloudfront.CachePolicy {
  return new cloudfront.CachePolicy(scope, 'CatalogCache', {
    comment: `Skillbucket ${settings.stage}: compressed, kept as the origin allows`,
    headerBehavior: cloudfront.CacheHeaderBehavior.allowList('x-skillbucket-authorization', 'accept'),
    queryStringBehavior: cloudfront.CacheQueryStringBehavior.all(),
    cookieBehavior: cloudfront.CacheCookieBehavior.none(),
    minTtl: Duration.seconds(0),
    defaultTtl: Duration.seconds(0),
    maxTtl: Duration.seconds(5),
    enableAcceptEncodingGzip: true,
    enableAcceptEncodingBrotli: true,
  });
}

/**
 * CloudFront keeps errors for ten seconds, most of them whatever the origin says, and where caching is off by path alone:
 * one tenant's error would be another's (CloudFront developer guide, "Control how long CloudFront caches errors").
 */
const ERRORS_NOT_KEPT = [400, 403, 404, 405, 414, 416, 500, 501, 502, 503, 504].map((httpStatus) => ({
  httpStatus,
  ttl: Duration.seconds(0),
}));

/** TLS 1.2 can be asked for with a certificate of one's own only; CloudFront's own name takes TLS 1.0 too. */
function ownName(
  scope: Construct,
  { domain }: Settings,
): Pick<cloudfront.DistributionProps, 'domainNames' | 'certificate' | 'minimumProtocolVersion'> {
  if (domain === undefined) return {};
  return {
    domainNames: [domain.name],
    certificate: Certificate.fromCertificateArn(scope, 'Certificate', domain.certificateArn),
    minimumProtocolVersion: cloudfront.SecurityPolicyProtocol.TLS_V1_2_2021,
  };
}
