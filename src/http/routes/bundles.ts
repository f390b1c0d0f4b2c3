import { SkillError } from '../../core/errors.ts';
import type { BundleId } from '../../core/ids.ts';
import { ARCHIVE_LIMITS } from '../../core/limits.ts';
import type { Manifest } from '../../core/manifest/manifest.ts';
import { checkAllowedMode } from '../../operations/allowed-mode.ts';
import { wasPublished } from '../../core/manifest/build.ts';
import { readRevision } from '../../operations/read-revision.ts';
import { shownRevision } from '../../operations/shown-revision.ts';
import { memoryTree } from '../../sources/skill-tree.ts';
import type { CurrentBundle } from '../../sources/manifest-cache.ts';
import type { TenantAccess } from '../../tenancy/tenant-access.ts';
import { readBody, readJson } from '../body.ts';
import { bundleParameter, pathParameter } from '../parameters.ts';
import { choice, flag, readQuery } from '../query.ts';
import { bundleEtag, preconditionOf } from '../precondition.ts';
import { etagOf, sendJson, sendJsonWithEtag } from '../respond.ts';
import type { TenantRoute } from '../route.ts';
import * as z from '../../core/zod.ts';

const PUBLISH_QUERY = z.object({ mode: choice(['strict', 'lenient'], 'strict'), dry_run: flag });
const ROLLBACK_BODY = z.strictObject({ revision: z.int().check(z.minimum(1)) });

export const listBundlesRoute: TenantRoute = {
  method: 'GET',
  path: '/v1/bundles',
  scope: 'catalog:read',
  summary: "The tenant's own bundles, each with its current revision and findings",
  async handle(context, access) {
    const manifests = [...(await access.bundles()).values()].map(({ manifest }) => manifest);
    const states = manifests.flatMap(({ bundle, generation, digest }) => [bundle, generation, digest]);
    const shown = manifests.map((manifest) => shownRevision(access, manifest));
    const view = shown.every((one, index) => one === manifests[index]) ? [] : [policyVersion(access)];
    return sendJsonWithEtag(context, etagOf('bundles', ...view, ...states), () => ({
      bundles: shown.map(summary),
    }));
  },
};

export const bundleRoute: TenantRoute = {
  method: 'GET',
  path: '/v1/bundles/:bundle',
  scope: 'catalog:read',
  summary: 'One bundle: current revision, skills and findings',
  async handle(context, access) {
    const { manifest: whole } = await existing(access, bundleParameter(context));
    const manifest = shownRevision(access, whole);
    const etag =
      manifest === whole
        ? bundleEtag(whole)
        : etagOf('shown', policyVersion(access), whole.generation, whole.digest);
    return sendJsonWithEtag(context, etag, () => ({
      ...summary(manifest),
      skills: manifest.skills.map(({ name, directory, digest, file_count, total_bytes }) => ({
        name,
        directory,
        digest,
        file_count,
        total_bytes,
      })),
    }));
  },
};

export const bundleRevisionsRoute: TenantRoute = {
  method: 'GET',
  path: '/v1/bundles/:bundle/revisions',
  scope: 'catalog:read',
  summary: 'Revisions of a bundle, newest first',
  async handle(context, access) {
    const { manifest } = await existing(access, bundleParameter(context));
    return sendJsonWithEtag(context, bundleEtag(manifest), () => ({
      bundle: manifest.bundle,
      current: manifest.revision,
      revisions: manifest.history.map((note) => ({ ...note, current: note.revision === manifest.revision })),
    }));
  },
};

export const bundleRevisionRoute: TenantRoute = {
  method: 'GET',
  path: '/v1/bundles/:bundle/revisions/:revision',
  scope: 'catalog:read',
  summary: 'One revision: skills and findings as they were published',
  async handle(context, access) {
    const { manifest } = await existing(access, bundleParameter(context));
    const number = pathParameter(context, 'revision');
    const known = /^[1-9]\d{0,8}$/.test(number) && wasPublished(manifest, Number(number));
    const revision = known ? await readRevision(access.objects, manifest.bundle, Number(number)) : undefined;
    if (revision === undefined) throw new SkillError('not_found');
    const shown = shownRevision(access, revision);
    const view = shown === revision ? [] : [policyVersion(access)];
    return sendJsonWithEtag(
      context,
      etagOf('revision', ...view, revision.revision, revision.digest),
      () => shown,
    );
  },
};

export const publishBundleRoute: TenantRoute = {
  method: 'PUT',
  path: '/v1/bundles/:bundle',
  scope: 'bundles:write',
  summary: 'Publishes a zip or tar.gz as the next revision, or reports and changes nothing',
  async handle(context, access) {
    const bundle = bundleParameter(context);
    const query = readQuery(context, PUBLISH_QUERY);
    checkAllowedMode(access, query.mode);
    const precondition = preconditionOf(context);
    // Publishing is rare, and brings archives and YAML along: a cold start does without.
    const { readArchive } = await import('../../archives/read-archive.ts');
    const { publishBundle } = await import('../../operations/publish-bundle.ts');
    const files = await readArchive(await readBody(context, ARCHIVE_LIMITS.maxPackedBytes), ARCHIVE_LIMITS);
    const outcome = await publishBundle(access.objects, {
      bundle,
      tree: memoryTree(files),
      mode: query.mode,
      publishedBy: access.principal.id,
      dryRun: query.dry_run,
      ...(precondition === undefined ? {} : { precondition }),
      now: access.now,
    });
    access.changed();
    return sendJson(context, outcome, outcome.outcome === 'published' ? 201 : 200);
  },
};

export const rollbackBundleRoute: TenantRoute = {
  method: 'POST',
  path: '/v1/bundles/:bundle/rollback',
  scope: 'bundles:write',
  summary: 'Points the bundle at an earlier revision again',
  async handle(context, access) {
    const bundle = bundleParameter(context);
    const body = await readJson(context, ROLLBACK_BODY);
    const precondition = preconditionOf(context);
    const { rollbackBundle } = await import('../../operations/publish-bundle.ts');
    const manifest = await rollbackBundle(access.objects, {
      bundle,
      revision: body.revision,
      publishedBy: access.principal.id,
      ...(precondition === undefined ? {} : { precondition }),
      now: access.now,
    });
    access.changed();
    return sendJson(context, summary(manifest));
  },
};

/** Part of the ETag of what a policy leaves something out of. */
const policyVersion = (access: TenantAccess): string => `policy${access.decided?.version ?? 0}`;

async function existing(access: TenantAccess, bundle: BundleId): Promise<CurrentBundle> {
  const found = await access.bundle(bundle);
  if (found === undefined) throw new SkillError('not_found');
  return found;
}

function summary(manifest: Manifest): object {
  return {
    bundle: manifest.bundle,
    generation: manifest.generation,
    revision: manifest.revision,
    digest: manifest.digest,
    mode: manifest.mode,
    published_at: manifest.published_at,
    published_by: manifest.published_by,
    skill_count: manifest.skills.length,
    findings: manifest.findings,
  };
}
