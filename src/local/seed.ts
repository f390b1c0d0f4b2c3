import { existsSync } from 'node:fs';
import { chmod, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { SkillError } from '../core/errors.ts';
import { bundleId } from '../core/ids.ts';
import type { TenantId } from '../core/ids.ts';
import { existingTenant } from '../operations/existing-tenant.ts';
import { publishBundle } from '../operations/publish-bundle.ts';
import { directoryTree } from '../sources/directory-tree.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import { issueKey, readKey } from '../tenancy/api-keys.ts';
import type { CredentialStore, Scope } from '../tenancy/credential-store.ts';
import { newTenantId, OPERATOR } from '../tenancy/reserved-tenants.ts';
import { tenantStore } from '../tenancy/tenant-store.ts';
import * as z from '../core/zod.ts';

/** What `local.json` holds: how to reach the embedded deployment. Readable by its owner only, since it holds keys. */
export const localFileSchema = z.object({
  url: z.string(),
  tenants: z.array(z.object({ id: z.string(), api_key: z.string() })),
  /** Who administrates; absent in files of older versions. */
  operator: z.optional(z.object({ api_key: z.string() })),
});
export type LocalFile = z.infer<typeof localFileSchema>;

/** The sample tenants, each with its own bundle of that name. */
export const SAMPLE_TENANTS = [
  { id: 'acme', name: 'Acme', bundle: 'main' },
  { id: 'globex', name: 'Globex', bundle: 'main' },
] as const;

const SAMPLE_SCOPES: readonly Scope[] = [
  'catalog:read',
  'skills:load',
  'bundles:write',
  'runtime:write',
  'policy:write',
];

/**
 * Makes sure that the sample tenants exist and can be used. What is there already stays: keys, and bundles that
 * somebody has published over the samples.
 */
export async function seed(parts: {
  readonly objects: ObjectStore;
  readonly credentials: CredentialStore;
  readonly samplesDir: string;
  readonly localFile: string;
  readonly now: () => Date;
}): Promise<Required<Pick<LocalFile, 'tenants' | 'operator'>>> {
  const before = await readLocalFile(parts.localFile);
  const known = before?.tenants ?? [];
  const created = Math.floor(parts.now().getTime() / 1000);
  const tenants: LocalFile['tenants'] = [];
  const keyFor = async (tenant: TenantId, kept: string | undefined, scopes: readonly Scope[]) =>
    kept !== undefined && (await isGood(parts.credentials, kept))
      ? kept
      : newKey(parts.credentials, tenant, scopes, created);
  for (const sample of SAMPLE_TENANTS) {
    const tenant = newTenantId(sample.id);
    if ((await parts.credentials.findTenant(tenant)) === undefined) {
      await parts.credentials.createTenant({
        id: tenant,
        name: sample.name,
        status: 'active',
        created_at: created,
      });
    }
    const kept = known.find((one) => one.id === sample.id)?.api_key;
    tenants.push({ id: sample.id, api_key: await keyFor(tenant, kept, SAMPLE_SCOPES) });
    await seedBundle(parts, tenant, sample.bundle);
  }
  await existingTenant(parts.credentials, OPERATOR, parts.now);
  return { tenants, operator: { api_key: await keyFor(OPERATOR, before?.operator?.api_key, ['admin']) } };
}

async function isGood(credentials: CredentialStore, key: string): Promise<boolean> {
  const read = readKey(key);
  return read !== undefined && (await credentials.findKey(read.secretHash)) !== undefined;
}

async function newKey(
  credentials: CredentialStore,
  tenant: TenantId,
  scopes: readonly Scope[],
  created: number,
): Promise<string> {
  const issued = issueKey();
  await credentials.saveKey(issued.secretHash, {
    id: issued.id,
    tenant,
    scopes: [...scopes],
    created_at: created,
  });
  return issued.key;
}

async function seedBundle(
  parts: { readonly objects: ObjectStore; readonly samplesDir: string; readonly now: () => Date },
  tenant: TenantId,
  bundle: string,
): Promise<void> {
  try {
    await publishBundle(tenantStore(parts.objects, tenant), {
      bundle: bundleId(bundle),
      tree: await directoryTree(path.join(parts.samplesDir, tenant), 'strict'),
      mode: 'strict',
      publishedBy: 'seed',
      precondition: (current) => current === undefined || current.published_by === 'seed',
      now: parts.now,
    });
  } catch (error) {
    // Somebody has published there: theirs stays.
    if (!(error instanceof SkillError && error.code === 'revision_conflict')) throw error;
  }
}

export async function readLocalFile(file: string): Promise<LocalFile | undefined> {
  if (!existsSync(file)) return undefined;
  const text = await readFile(file, 'utf8');
  try {
    return localFileSchema.parse(JSON.parse(text));
  } catch (error) {
    // Damaged or of another version: it is written again, with new keys.
    if (error instanceof SyntaxError || error instanceof z.core.$ZodError) return undefined;
    throw error;
  }
}

export async function writeLocalFile(file: string, content: LocalFile): Promise<void> {
  const temporary = `${file}.${process.pid}.tmp`;
  await writeFile(temporary, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  await chmod(temporary, 0o600);
  await rename(temporary, file);
}
