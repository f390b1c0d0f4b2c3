import type { BundleId, Digest, TenantId } from '../ids.ts';
import { hexOf } from '../ids.ts';

/**
 * Every object key of the bucket. Ids cannot hold `/` or `.`, and digests are hex, so no two things share a key and
 * none can name another tenant's. All but the prefix are relative to the tenant.
 */
export const tenantPrefix = (tenant: TenantId): string => `tenants/${tenant}/`;

export const bundleIndexKey = 'bundles/index.json';
export const manifestKey = (bundle: BundleId): string => `bundles/${bundle}/manifest.json`;
export const revisionKey = (bundle: BundleId, revision: number): string =>
  `bundles/${bundle}/revisions/${revision}.json`;
export const fileKey = (digest: Digest): string => `files/${hexOf(digest)}`;
export const skillFilesKey = (digest: Digest): string => `skills/${hexOf(digest)}.json`;
