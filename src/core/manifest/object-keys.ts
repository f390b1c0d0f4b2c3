import type { Lifetime } from './lifetimes.ts';
import type { BundleId, Digest, TenantId, UploadId } from '../ids.ts';
import { hexOf, isBundleId, isTenantId, isUploadId } from '../ids.ts';

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

/** An archive on its way in, and what is known of it: what was declared, and what came of it. */
export const uploadKey = (bundle: BundleId, upload: UploadId): string => `uploads/${bundle}/${upload}`;
export const uploadBegunKey = (bundle: BundleId, upload: UploadId): string =>
  `upload-records/${bundle}/${upload}/begun.json`;
export const uploadEndedKey = (bundle: BundleId, upload: UploadId): string =>
  `upload-records/${bundle}/${upload}/ended.json`;

/** Which lifetime the object of a key was put with; undefined for what stays. */
export function lifetimeOf(key: string): Lifetime | undefined {
  if (/^tenants\/[^/]+\/uploads\//.test(key)) return 'upload';
  return /^tenants\/[^/]+\/upload-records\//.test(key) ? 'record' : undefined;
}

/** Whose archive an object of the bucket is; undefined when the key is not an archive's. */
export function parseUploadKey(
  key: string,
): { readonly tenant: TenantId; readonly bundle: BundleId; readonly upload: UploadId } | undefined {
  const [tenants, tenant = '', uploads, bundle = '', upload = '', ...more] = key.split('/');
  if (tenants !== 'tenants' || uploads !== 'uploads' || more.length > 0) return undefined;
  return isTenantId(tenant) && isBundleId(bundle) && isUploadId(upload)
    ? { tenant, bundle, upload }
    : undefined;
}
