import path from 'node:path';
import { s3Store } from '../../aws-clients.ts';
import type { Config } from '../../config.ts';
import { readConfig } from '../../config.ts';
import { SkillError } from '../../core/errors.ts';
import type { ValidationMode } from '../../core/format/skill-document.ts';
import type { BundleId, TenantId } from '../../core/ids.ts';
import { bundleId } from '../../core/ids.ts';
import { localPaths } from '../../local/embedded.ts';
import { readLocalFile, SAMPLE_TENANTS } from '../../local/seed.ts';
import { publishBundle } from '../../operations/publish-bundle.ts';
import type { PublishOutcome } from '../../operations/publish-bundle.ts';
import type { SkillTree } from '../../sources/skill-tree.ts';
import { directoryObjectStore } from '../../storage/directory.ts';
import { newTenantId } from '../../tenancy/reserved-tenants.ts';
import { tenantStore } from '../../tenancy/tenant-store.ts';
import { jsonText } from '../plain.ts';
import type { Command, Io } from '../io.ts';
import { UsageError } from '../io.ts';
import { onlyOne, readOptions } from '../options.ts';
import { readOutputs } from '../outputs.ts';
import {
  countOf,
  megabytes,
  patienceOf,
  printFindings,
  progressLine,
  sizeOf,
  styled,
  summaryOf,
} from '../print.ts';
import { publishRemote } from '../publish-remote.ts';
import { serviceClient } from '../service-client.ts';
import { treeOf } from '../tree-of.ts';

export const publishCommand: Command = {
  name: 'publish',
  summary: "Publish a folder of skills as a tenant's bundle",
  help: `Usage: skillbucket publish FOLDER --bundle NAME [--url URL --key KEY] [--tenant ID]
                           [--lenient] [--dry-run] [--json]

Validates every skill, uploads what is new, then makes it the bundle's next
revision in one step: readers see the old state or the new one, never a mix.
Publishing unchanged content changes nothing.

  --bundle NAME    the bundle
  --url URL        the service to publish to (or SKILLBUCKET_URL)
  --key KEY        a key with bundles:write (or SKILLBUCKET_KEY, which keeps it out of
                   process lists); it names the tenant
  --outputs FILE   take the URL from what \`cdk deploy --outputs-file FILE\` wrote
  --tenant ID      without --url: whose bundle (default: the first tenant of the
                   local deployment)
  --lenient        repair what can be repaired; recorded with the bundle
  --dry-run        validate and report, publish nothing
  --data-dir DIR   the local deployment's data (default: .skillbucket, or SKILLBUCKET_DATA_DIR)
  --json           for a program

With a URL the archive goes straight to the bucket and is published by the
service; what is there already is not sent again. Without one it publishes to
the local deployment, or with SKILLBUCKET_BUCKET set to that S3 bucket; endpoint
and credentials come from the standard AWS environment.

Exit code: 0 published or unchanged, 1 refused (nothing was changed), 2 could not run.

Example: skillbucket publish ./skills --bundle team
         SKILLBUCKET_KEY=sb_… skillbucket publish ./skills --bundle team --url https://…`,

  async run(args, io) {
    const { values, positionals } = readOptions(args, {
      bundle: { type: 'string' },
      url: { type: 'string' },
      key: { type: 'string' },
      outputs: { type: 'string' },
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
    const url = await urlOf(values, config);
    const tree = await treeOf(folder, mode);
    const request: Request = { bundle, tree, mode, dryRun: values['dry-run'] === true };
    const { whose, outcome, sent } =
      url === undefined
        ? await publishHere(request, values, config, io)
        : await publishThere(request, values, { url, key: values.key ?? config.key }, config, io);
    if (values.json === true) io.out(jsonText({ ...whose, ...outcome }));
    else printOutcome(io, whose.tenant, outcome, sent);
    return 0;
  },
};

interface Request {
  readonly bundle: BundleId;
  readonly tree: SkillTree;
  readonly mode: ValidationMode;
  readonly dryRun: boolean;
}

interface Done {
  readonly whose: { readonly tenant?: string; readonly url?: string };
  readonly outcome: PublishOutcome;
  /** What went to the bucket, in words. */
  readonly sent: string;
}

interface Options {
  readonly url?: string;
  readonly outputs?: string;
  readonly tenant?: string;
  readonly 'data-dir'?: string;
}

/** Straight into a bucket: the local deployment's, or one in S3. */
async function publishHere(request: Request, options: Options, config: Config, io: Io): Promise<Done> {
  const paths = localPaths(path.resolve(options['data-dir'] ?? config.dataDir));
  const bucketName = options['data-dir'] === undefined ? config.bucket : undefined;
  const tenant = await tenantOf(options.tenant, bucketName !== undefined, paths.localFile);
  const objects = bucketName === undefined ? directoryObjectStore(paths.bucket) : s3Store(bucketName, config);
  const progress = progressLine(io, request.dryRun ? 'Validating' : 'Publishing');
  const outcome = await publishBundle(tenantStore(objects, tenant), {
    ...request,
    publishedBy: 'cli',
    onProgress: (state) => {
      progress.update(state);
    },
    now: () => new Date(),
  }).finally(() => {
    progress.end();
  });
  return { whose: { tenant }, outcome, sent: `${countOf(outcome.uploaded.files, 'file')} uploaded` };
}

/** Through a service. */
async function publishThere(
  request: Request,
  options: Options,
  service: { readonly url: string; readonly key: string | undefined },
  config: Config,
  io: Io,
): Promise<Done> {
  const { url, key } = service;
  if (options.tenant !== undefined) {
    throw new UsageError('--tenant has no place with a URL: the key names the tenant.');
  }
  if (key === undefined) throw new UsageError('--key KEY or SKILLBUCKET_KEY is missing.');
  const patience = patienceOf(config, io);
  const client = serviceClient({ url, key, patience });
  warnOfPlainHttp(io, url);
  const progress = progressLine(io, 'Uploading', megabytes);
  const { outcome, sent } = await publishRemote(client, {
    ...request,
    patience,
    onProgress: (state) => {
      progress.update(state);
    },
  }).finally(() => {
    progress.end();
  });
  return {
    whose: { url },
    outcome,
    sent: sent === 0 ? 'the archive was there already' : `${sizeOf(sent)} sent`,
  };
}

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

/** A URL that is given wins; a data directory that is given means the local deployment. */
async function urlOf(values: Options, config: Config): Promise<string | undefined> {
  if (values.url !== undefined && values.outputs !== undefined) {
    throw new UsageError('Give --url or --outputs, not both.');
  }
  if (values.url !== undefined) return values.url;
  if (values.outputs !== undefined) return (await readOutputs(values.outputs)).Url;
  return values['data-dir'] === undefined ? config.url : undefined;
}

/** Whoever listens on the way could publish with the key, too. */
function warnOfPlainHttp(io: Io, url: string): void {
  const { protocol, hostname } = new URL(url);
  if (protocol === 'https:' || ['localhost', '127.0.0.1', '[::1]'].includes(hostname)) return;
  io.err(`${styled(io, 'yellow', 'Warning')}: ${url} is not encrypted; the key can be read on the way.\n`);
}

function printOutcome(io: Io, tenant: string | undefined, outcome: PublishOutcome, sent: string): void {
  printFindings(io, outcome.findings);
  const what = `${countOf(outcome.skills, 'skill')}, ${countOf(outcome.files, 'file')}`;
  const name = tenant === undefined ? outcome.bundle : `${tenant}/${outcome.bundle}`;
  const notes = summaryOf(outcome.findings);
  const lines: Record<PublishOutcome['outcome'], string> = {
    published: `${styled(io, 'green', 'Published')} ${name} revision ${outcome.revision}: ${what}; ${sent}`,
    unchanged: `Unchanged: ${name} is at revision ${outcome.revision} with just this content`,
    validated: `${styled(io, 'green', 'Valid')}: ${what}; nothing was published`,
  };
  io.out(`${lines[outcome.outcome]}${notes === '' ? '' : `; ${notes}`}\n`);
}
