import path from 'node:path';
import { s3Store } from '../../compose.ts';
import { readConfig } from '../../config.ts';
import { SkillError } from '../../core/errors.ts';
import type { TenantId } from '../../core/ids.ts';
import { bundleId } from '../../core/ids.ts';
import { localPaths } from '../../local/embedded.ts';
import { readLocalFile, SAMPLE_TENANTS } from '../../local/seed.ts';
import { publishBundle } from '../../operations/publish-bundle.ts';
import type { PublishOutcome } from '../../operations/publish-bundle.ts';
import { directoryObjectStore } from '../../storage/directory.ts';
import { newTenantId } from '../../tenancy/mint-access.ts';
import { tenantStore } from '../../tenancy/tenant-store.ts';
import type { Command, Io } from '../io.ts';
import { UsageError } from '../io.ts';
import { onlyOne, readOptions } from '../options.ts';
import { countOf, printFindings, progressLine, styled, summaryOf } from '../print.ts';
import { treeOf } from '../tree-of.ts';

export const publishCommand: Command = {
  name: 'publish',
  summary: "Publish a folder of skills as a tenant's bundle",
  help: `Usage: skillbucket publish FOLDER --bundle NAME [--tenant ID] [--lenient] [--dry-run] [--json]

Validates every skill, uploads what is new, then makes it the bundle's next
revision in one step: readers see the old state or the new one, never a mix.
Publishing unchanged content changes nothing.

  --bundle NAME    the bundle
  --tenant ID      whose bundle (default: the first tenant of the local deployment)
  --lenient        repair what can be repaired; recorded with the bundle
  --dry-run        validate and report, publish nothing
  --data-dir DIR   the local deployment's data (default: .skillbucket, or SKILLBUCKET_DATA_DIR)
  --json           for a program

With SKILLBUCKET_BUCKET set it publishes to that S3 bucket; endpoint and
credentials come from the standard AWS environment.

Exit code: 0 published or unchanged, 1 refused (nothing was changed), 2 could not run.

Example: skillbucket publish ./skills --bundle team`,

  async run(args, io) {
    const { values, positionals } = readOptions(args, {
      bundle: { type: 'string' },
      tenant: { type: 'string' },
      lenient: { type: 'boolean' },
      'dry-run': { type: 'boolean' },
      'data-dir': { type: 'string' },
      json: { type: 'boolean' },
    });
    const folder = onlyOne(positionals, 'FOLDER');
    if (values.bundle === undefined) throw new UsageError('--bundle NAME is missing.');
    const bundle = bundleId(values.bundle);
    const mode = values.lenient === true ? 'lenient' : 'strict';
    const config = readConfig(io.env);
    const dataDir = path.resolve(values['data-dir'] ?? config.dataDir);
    const paths = localPaths(dataDir);
    const bucketName = values['data-dir'] === undefined ? config.bucket : undefined;
    const tenant = await tenantOf(values.tenant, bucketName !== undefined, paths.localFile);
    const objects =
      bucketName === undefined ? directoryObjectStore(paths.bucket) : s3Store(bucketName, config);

    const progress = progressLine(io, values['dry-run'] === true ? 'Validating' : 'Publishing');
    const tree = await treeOf(folder, mode);
    const outcome = await publishBundle(tenantStore(objects, tenant), {
      bundle,
      tree,
      mode,
      publishedBy: 'cli',
      dryRun: values['dry-run'] === true,
      onProgress: (state) => {
        progress.update(state);
      },
      now: () => new Date(),
    }).finally(() => {
      progress.end();
    });
    if (values.json === true) io.out(`${JSON.stringify({ tenant, ...outcome }, null, 2)}\n`);
    else printOutcome(io, tenant, outcome);
    return 0;
  },
};

/** A mistyped tenant would get a bundle that nobody ever sees. */
async function tenantOf(given: string | undefined, remote: boolean, localFile: string): Promise<TenantId> {
  if (remote) {
    if (given === undefined) throw new UsageError('--tenant ID is missing: a bucket has no default tenant.');
    return newTenantId(given);
  }
  const ids =
    (await readLocalFile(localFile))?.tenants.map((one) => one.id) ?? SAMPLE_TENANTS.map((one) => one.id);
  const tenant = newTenantId(given ?? ids[0] ?? SAMPLE_TENANTS[0].id);
  if (!ids.includes(tenant)) {
    throw new SkillError('not_found', {
      detail: `The local deployment has no tenant "${tenant}"; it has ${ids.join(' and ')}.`,
    });
  }
  return tenant;
}

function printOutcome(io: Io, tenant: string, outcome: PublishOutcome): void {
  printFindings(io, outcome.findings);
  const what = `${countOf(outcome.skills, 'skill')}, ${countOf(outcome.files, 'file')}`;
  const notes = summaryOf(outcome.findings);
  const lines: Record<PublishOutcome['outcome'], string> = {
    published: `${styled(io, 'green', 'Published')} ${tenant}/${outcome.bundle} revision ${outcome.revision}: ${what}; ${countOf(outcome.uploaded.files, 'file')} uploaded`,
    unchanged: `Unchanged: ${tenant}/${outcome.bundle} is at revision ${outcome.revision} with just this content`,
    validated: `${styled(io, 'green', 'Valid')}: ${what}; nothing was published`,
  };
  io.out(`${lines[outcome.outcome]}${notes === '' ? '' : `; ${notes}`}\n`);
}
