import * as z from 'zod';
import { tokenLimit } from './core/catalog/tokens.ts';
import { SkillError } from './core/errors.ts';
import {
  DEFAULT_RESOURCE_POLICY,
  DEFAULT_TOKEN_LIMIT,
  FRESHNESS_SECONDS,
  SESSION_TTL_SECONDS,
} from './core/limits.ts';
import type { ResourcePolicy } from './core/limits.ts';
import type { LogLevel } from './log.ts';

/** Everything that the environment decides. AWS_* variables are read by the AWS SDK itself. */
export interface Config {
  /** Where `serve` listens. */
  readonly host: string;
  readonly port: number;
  /** Of the embedded deployment. */
  readonly dataDir: string;
  /** Set both for S3 and DynamoDB instead of the embedded deployment. */
  readonly bucket: string | undefined;
  readonly table: string | undefined;
  /** `when_required` for S3-compatible stores that do not know the SDK's default checksums. */
  readonly s3Checksums: 'when_supported' | 'when_required';
  /** Bucket in the path and not in the host name, as most S3-compatible stores want it. */
  readonly s3PathStyle: boolean;
  readonly freshnessSeconds: number;
  readonly sessionTtlSeconds: number;
  readonly maxTokens: number;
  readonly resources: ResourcePolicy;
  readonly logLevel: LogLevel;
}

const seconds = (fallback: number, max: number) => z.coerce.number().int().min(0).max(max).default(fallback);

const schema = z.object({
  HOST: z.string().default('127.0.0.1'),
  PORT: z.coerce.number().int().min(0).max(65_535).default(8787),
  SKILLBUCKET_DATA_DIR: z.string().min(1).default('.skillbucket'),
  SKILLBUCKET_BUCKET: z.string().min(1).optional(),
  SKILLBUCKET_TABLE: z.string().min(1).optional(),
  SKILLBUCKET_S3_CHECKSUMS: z.enum(['when_supported', 'when_required']).default('when_supported'),
  SKILLBUCKET_S3_PATH_STYLE: z.enum(['true', 'false']).default('false'),
  SKILLBUCKET_FRESHNESS_SECONDS: seconds(FRESHNESS_SECONDS, 3_600),
  SKILLBUCKET_SESSION_TTL_SECONDS: seconds(SESSION_TTL_SECONDS, 30 * 24 * 60 * 60),
  SKILLBUCKET_MAX_TOKENS: z.coerce.number().default(DEFAULT_TOKEN_LIMIT),
  SKILLBUCKET_BINARY: z.enum(['reject', 'allow']).default(DEFAULT_RESOURCE_POLICY.binary),
  SKILLBUCKET_LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error', 'silent']).default('info'),
});

/**
 * The only reader of the environment.
 *
 * @throws SkillError invalid_request naming the variable
 */
export function readConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  const set = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  const parsed = schema.safeParse(set);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw new SkillError('invalid_request', {
      detail: `Environment variable ${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'not valid'}.`,
    });
  }
  const env = parsed.data;
  return {
    host: env.HOST,
    port: env.PORT,
    dataDir: env.SKILLBUCKET_DATA_DIR,
    bucket: env.SKILLBUCKET_BUCKET,
    table: env.SKILLBUCKET_TABLE,
    s3Checksums: env.SKILLBUCKET_S3_CHECKSUMS,
    s3PathStyle: env.SKILLBUCKET_S3_PATH_STYLE === 'true',
    freshnessSeconds: env.SKILLBUCKET_FRESHNESS_SECONDS,
    sessionTtlSeconds: env.SKILLBUCKET_SESSION_TTL_SECONDS,
    maxTokens: tokenLimit(env.SKILLBUCKET_MAX_TOKENS, 'SKILLBUCKET_MAX_TOKENS'),
    resources: { ...DEFAULT_RESOURCE_POLICY, binary: env.SKILLBUCKET_BINARY },
    logLevel: env.SKILLBUCKET_LOG_LEVEL,
  };
}
