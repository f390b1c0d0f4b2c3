/** Every ceiling of the product: the unit in its name, the reason in a line. */

const KIB = 1024;
const MIB = 1024 * KIB;

/** Metadata only; the same bound that a discovery reads of a file (J4). */
export const MAX_FRONTMATTER_BYTES = 64 * KIB;
/** Agent Skills specification, `description`. */
export const MAX_DESCRIPTION_CODE_POINTS = 1_024;
/** Agent Skills specification, `compatibility`. */
export const MAX_COMPATIBILITY_CODE_POINTS = 500;
/** Agent Skills specification, `name`. */
export const MAX_NAME_CHARACTERS = 64;
/** A SKILL.md is instructions; a larger one cannot fit any model's context (N3: 4 MB a file). */
export const MAX_SKILL_MD_BYTES = 4_000_000;

/** Discovery (J4): deep enough for `skills/team/area/skill`, bounded against a mistaken `/`. */
export const MAX_DISCOVERY_DEPTH = 6;
export const MAX_DISCOVERY_DIRECTORIES = 2_000;
export const EXCLUDED_DIRECTORIES: readonly string[] = ['.git', 'node_modules'];
/** A publisher names its folder on purpose, so it may be large; still bounded against a mistaken `/`. */
export const MAX_PUBLISH_DIRECTORIES = 200_000;

/** A resource policy: what one activation may list and load (J21). */
export interface ResourcePolicy {
  readonly max_resources: number;
  readonly max_depth: number;
  readonly max_directories: number;
  readonly max_listing_bytes: number;
  readonly max_file_bytes: number;
  readonly max_text_bytes: number;
  readonly binary: 'reject' | 'allow';
}

export const DEFAULT_RESOURCE_POLICY: ResourcePolicy = {
  max_resources: 256,
  max_depth: 8,
  max_directories: 1_024,
  max_listing_bytes: 64 * KIB,
  max_file_bytes: 1 * MIB,
  max_text_bytes: 256 * KIB,
  binary: 'reject',
};

/** Archives, so that a small request cannot become a large one. */
export interface ArchiveLimits {
  readonly maxPackedBytes: number;
  readonly maxUnpackedBytes: number;
  readonly maxEntries: number;
  readonly maxPathBytes: number;
  /** Unpacked to packed, of the whole archive. */
  readonly maxRatio: number;
}

export const ARCHIVE_LIMITS: ArchiveLimits = {
  maxPackedBytes: 20 * MIB,
  maxUnpackedBytes: 50 * MIB,
  maxEntries: 2_000,
  maxPathBytes: 512,
  maxRatio: 200,
};
/** Small archives of text compress far beyond the ratio without harm. */
export const ARCHIVE_RATIO_FREE_BYTES = 1 * MIB;

/** A signed URL is made for the moment in which it is used. */
export const UPLOAD_URL_SECONDS = 15 * 60;
export const DOWNLOAD_URL_SECONDS = 5 * 60;
/**
 * What is above either leaves by a signed URL: a Lambda answer ends at 6 MB, and base64 adds a third to bytes (Lambda
 * quotas, "Invocation payload").
 */
export const MAX_ANSWER_FILE_BYTES = 4 * MIB;
export const MAX_ANSWER_TEXT_BYTES = 5.5 * MIB;

/** One published file; what an archive could hold at the most. */
export const MAX_PUBLISHED_FILE_BYTES = 50 * MIB;
/** Agent hosts need not load more (MCP skills extension): a warning above. */
export const LARGE_SKILL_FILES = 512;
export const LARGE_SKILL_BYTES = 16 * MIB;

/** Token budgets (N7): an estimate of 4 bytes a token. */
export const DEFAULT_TOKEN_LIMIT = 10_000;
export const MAX_TOKEN_LIMIT = 100_000;

/** A session outlives a working day; renewed when used with less than half of it left. */
export const SESSION_TTL_SECONDS = 24 * 60 * 60;
/** How long the receipt of a load is kept: an audit looks back a quarter. */
export const RECEIPT_DAYS = 90;
/** How long loads are counted by day: a year, and the month in which it is looked at. */
export const USAGE_DAYS = 400;
/** The longest period that one question about usage may cover. */
export const MAX_USAGE_PERIOD_DAYS = 366;
export const DEFAULT_USAGE_PERIOD_DAYS = 30;
/** How long a warm process may serve a manifest, a key or a tenant without asking again. */
export const FRESHNESS_SECONDS = 5;

/** What one tenant may ask of a deployment that says nothing else: far above what agents need, far below what hurts. */
export const REQUESTS_PER_SECOND = 200;
export const LOADS_PER_SECOND = 50;
/**
 * How long a process of many tenants keeps a 429 to itself. Whoever asks again as soon as it is answered would
 * otherwise be refused thousands of times a second, at the cost of the others. On Lambda waiting costs money and each
 * request has a process of its own.
 */
export const HOLD_REFUSED_MS = 100;

/** JSON tool calls are small; prompts for mentions are the largest. */
export const MAX_JSON_BODY_BYTES = 256 * KIB;

/** Catalog pages. */
export const MAX_PAGE_SIZE = 200;
export const DEFAULT_PAGE_SIZE = 100;

/** Skills with more files keep their list in a file of its own, so that a manifest stays small. */
export const MAX_INLINE_FILES = 32;
/** DynamoDB items end at 400 KiB and cost by the KiB; a larger listing is kept in the bucket. */
export const MAX_INLINE_LISTING_BYTES = 24 * KIB;

/** How many revisions the manifest remembers for listing; older ones stay in the bucket. */
export const MAX_REVISION_HISTORY = 200;

/** Session ids, agent ids and request ids are the caller's own words. */
export const MAX_SESSION_ID_CHARACTERS = 256;

/** How long the command waits for one answer: longer than the service itself may take. */
export const TIMEOUT_SECONDS = 90;
