import { tokenLimit } from './core/catalog/tokens.ts';
import { SkillError } from './core/errors.ts';
import {
  DEFAULT_RESOURCE_POLICY,
  DEFAULT_TOKEN_LIMIT,
  FRESHNESS_SECONDS,
  LOADS_PER_SECOND,
  MAX_PUBLISHED_FILE_BYTES,
  RECEIPT_DAYS,
  REQUESTS_PER_SECOND,
  SESSION_TTL_SECONDS,
  TIMEOUT_SECONDS,
} from './core/limits.ts';
import type { ResourcePolicy } from './core/limits.ts';
import type { LogLevel } from './log.ts';
import type { RateLimits } from './core/rate-limit.ts';
import { rateLimit } from './core/rate-limit.ts';
import * as z from './core/zod.ts';

/** Everything that the environment decides. AWS_* variables are read by the AWS SDK itself. */
export interface Config {
  /** Where `serve` listens. */
  readonly host: string;
  readonly port: number;
  /** Of the embedded deployment. */
  readonly dataDir: string;
  /** The service that `publish` talks to, and the key for it. */
  readonly url: string | undefined;
  readonly key: string | undefined;
  /** How long the command waits for one answer of a service. */
  readonly timeoutSeconds: number;
  /** Set both for S3 and DynamoDB instead of the embedded deployment. */
  readonly bucket: string | undefined;
  readonly table: string | undefined;
  /** `when_required` for S3-compatible stores that do not know the SDK's default checksums. */
  readonly s3Checksums: 'when_supported' | 'when_required';
  /** Bucket in the path and not in the host name, as most S3-compatible stores want it. */
  readonly s3PathStyle: boolean;
  readonly freshnessSeconds: number;
  readonly sessionTtlSeconds: number;
  /** How long the receipts of loads are kept. */
  readonly receiptDays: number;
  readonly maxTokens: number;
  readonly resources: ResourcePolicy;
  /** Of each tenant, unless an operator sets others for it. */
  readonly rateLimits: RateLimits;
  readonly logLevel: LogLevel;
}

const whole = (max: number, fallback: number) =>
  z._default(z.coerce.number().check(z.int(), z.minimum(0), z.maximum(max)), fallback);
const positive = (max: number, fallback: number) =>
  z._default(z.coerce.number().check(z.int(), z.minimum(1), z.maximum(max)), fallback);
const named = z.string().check(z.minLength(1));
const oneOf = <const Values extends readonly [string, ...string[]]>(
  values: Values,
  fallback: Values[number],
) => z._default(z.enum(values), fallback);

const schema = z.object({
  HOST: z._default(z.string(), '127.0.0.1'),
  PORT: whole(65_535, 8787),
  SKILLBUCKET_DATA_DIR: z._default(named, '.skillbucket'),
  SKILLBUCKET_URL: z.optional(z.url({ protocol: /^https?$/ })),
  SKILLBUCKET_KEY: z.optional(named),
  SKILLBUCKET_TIMEOUT_SECONDS: positive(3_600, TIMEOUT_SECONDS),
  SKILLBUCKET_BUCKET: z.optional(named),
  SKILLBUCKET_TABLE: z.optional(named),
  SKILLBUCKET_S3_CHECKSUMS: oneOf(['when_supported', 'when_required'], 'when_supported'),
  SKILLBUCKET_S3_PATH_STYLE: oneOf(['true', 'false'], 'false'),
  SKILLBUCKET_FRESHNESS_SECONDS: whole(3_600, FRESHNESS_SECONDS),
  SKILLBUCKET_SESSION_TTL_SECONDS: whole(30 * 24 * 60 * 60, SESSION_TTL_SECONDS),
  SKILLBUCKET_RECEIPT_DAYS: positive(3_650, RECEIPT_DAYS),
  SKILLBUCKET_MAX_TOKENS: z._default(z.coerce.number(), DEFAULT_TOKEN_LIMIT),
  SKILLBUCKET_BINARY: oneOf(['reject', 'allow'], DEFAULT_RESOURCE_POLICY.binary),
  SKILLBUCKET_MAX_FILE_BYTES: positive(MAX_PUBLISHED_FILE_BYTES, DEFAULT_RESOURCE_POLICY.max_file_bytes),
  SKILLBUCKET_MAX_TEXT_BYTES: positive(MAX_PUBLISHED_FILE_BYTES, DEFAULT_RESOURCE_POLICY.max_text_bytes),
  SKILLBUCKET_REQUESTS_PER_SECOND: whole(1_000_000, REQUESTS_PER_SECOND),
  SKILLBUCKET_LOADS_PER_SECOND: whole(1_000_000, LOADS_PER_SECOND),
  SKILLBUCKET_LOG_LEVEL: oneOf(['debug', 'info', 'warn', 'error', 'silent'], 'info'),
});

/** A variable that is not valid: named, its value not quoted. */
export class SettingError extends Error {
  override readonly name = 'SettingError';
}

/**
 * The only reader of the environment.
 *
 * @throws SettingError naming the variable
 */
export function readConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  const set = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  const parsed = schema.safeParse(set);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw new SettingError(
      `Environment variable ${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'not valid'}.`,
    );
  }
  const env = parsed.data;
  return {
    host: env.HOST,
    port: env.PORT,
    dataDir: env.SKILLBUCKET_DATA_DIR,
    url: env.SKILLBUCKET_URL,
    key: env.SKILLBUCKET_KEY,
    timeoutSeconds: env.SKILLBUCKET_TIMEOUT_SECONDS,
    bucket: env.SKILLBUCKET_BUCKET,
    table: env.SKILLBUCKET_TABLE,
    s3Checksums: env.SKILLBUCKET_S3_CHECKSUMS,
    s3PathStyle: env.SKILLBUCKET_S3_PATH_STYLE === 'true',
    freshnessSeconds: env.SKILLBUCKET_FRESHNESS_SECONDS,
    sessionTtlSeconds: env.SKILLBUCKET_SESSION_TTL_SECONDS,
    receiptDays: env.SKILLBUCKET_RECEIPT_DAYS,
    maxTokens: maxTokensOf(env.SKILLBUCKET_MAX_TOKENS),
    resources: {
      ...DEFAULT_RESOURCE_POLICY,
      binary: env.SKILLBUCKET_BINARY,
      max_file_bytes: env.SKILLBUCKET_MAX_FILE_BYTES,
      max_text_bytes: env.SKILLBUCKET_MAX_TEXT_BYTES,
    },
    rateLimits: {
      ...limitOf('requests', env.SKILLBUCKET_REQUESTS_PER_SECOND),
      ...limitOf('loads', env.SKILLBUCKET_LOADS_PER_SECOND),
    },
    logLevel: env.SKILLBUCKET_LOG_LEVEL,
  };
}

/** 0 stands for no limit. */
function limitOf(kind: keyof RateLimits, perSecond: number): RateLimits {
  return perSecond === 0 ? {} : { [kind]: rateLimit(perSecond) };
}

function maxTokensOf(value: number): number {
  try {
    return tokenLimit(value, 'SKILLBUCKET_MAX_TOKENS');
  } catch (error) {
    if (error instanceof SkillError) throw new SettingError(error.message);
    throw error;
  }
}
