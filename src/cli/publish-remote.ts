import { setTimeout as pause } from 'node:timers/promises';
import { sha256 } from '../core/digests.ts';
import { SkillError } from '../core/errors.ts';
import type { ValidationMode } from '../core/format/skill-document.ts';
import type { BundleId } from '../core/ids.ts';
import { digestSchema, findingSchema } from '../core/manifest/manifest.ts';
import { packTree } from '../operations/pack-tree.ts';
import type { PublishOutcome } from '../operations/publish-bundle.ts';
import type { SkillTree } from '../sources/skill-tree.ts';
import type { Patience } from './patience.ts';
import { FinalError } from './patience.ts';
import { putArchive } from './put-archive.ts';
import type { ServiceClient } from './service-client.ts';
import * as z from '../core/zod.ts';

const bundleSchema = z.object({ revision: z.number(), generation: z.number(), digest: digestSchema });
const outcomeSchema = z.object({
  outcome: z.enum(['published', 'unchanged']),
  revision: z.number(),
  generation: z.number(),
  digest: digestSchema,
  skills: z.number(),
  files: z.number(),
  bytes: z.number(),
  uploaded: z.object({ files: z.number(), bytes: z.number() }),
  findings: z.array(findingSchema),
});
const ticketSchema = z.object({
  upload_id: z.string(),
  state: z.string(),
  url: z.optional(z.string()),
  headers: z.optional(z.record(z.string(), z.string())),
  outcome: z.optional(outcomeSchema),
});

/** Tries of a step that the network or the service broke off, and the pause before the next, doubled each time. */
const TRIES = 4;
const PAUSE_MILLISECONDS = 500;

export interface RemoteInput {
  readonly bundle: BundleId;
  readonly tree: SkillTree;
  readonly mode: ValidationMode;
  readonly dryRun: boolean;
  readonly patience: Patience;
  readonly onProgress: (progress: { readonly done: number; readonly total: number }) => void;
}

/**
 * Publishes a tree through a service: validated here, sent straight to the bucket, published there. What the service has
 * already is not sent: unchanged content not at all, and an archive that has arrived not again.
 *
 * @returns `sent`: bytes that went over the line
 * @throws SkillError as the service refused, or as validating here did; nothing was changed then
 */
export async function publishRemote(
  service: ServiceClient,
  input: RemoteInput,
): Promise<{ readonly outcome: PublishOutcome; readonly sent: number }> {
  const { bundle, mode, patience } = input;
  const packed = await packTree(input.tree, { bundle, mode });
  const current = await currentState(service, bundle, patience);
  const { skills } = packed.content;
  const local = {
    bundle,
    mode,
    digest: packed.digest,
    skills: skills.length,
    files: skills.reduce((sum, skill) => sum + skill.file_count, 0),
    bytes: skills.reduce((sum, skill) => sum + skill.total_bytes, 0),
    uploaded: { files: 0, bytes: 0 },
    findings: packed.findings,
    revision: current?.revision,
    generation: current?.generation,
  };
  if (input.dryRun) return { outcome: { ...local, outcome: 'validated' }, sent: 0 };
  if (current?.digest === packed.digest) return { outcome: { ...local, outcome: 'unchanged' }, sent: 0 };

  const body = { size: packed.archive.length, sha256: sha256(packed.archive), mode };
  const begin = () => service.request('POST', `/v1/bundles/${bundle}/uploads`, ticketSchema, body);
  let sent = 0;
  const ticket = await tried(patience, async () => {
    // Begun anew at each try: it finds the same upload, and a URL that has not expired.
    const begun = await begin();
    if (begun.url === undefined) return begun;
    await putArchive(begun.url, begun.headers ?? {}, packed.archive, {
      patience,
      onProgress: (done) => {
        input.onProgress({ done, total: packed.archive.length });
      },
    });
    sent = packed.archive.length;
    return begun;
  });
  const published =
    ticket.outcome ??
    (await tried(patience, () =>
      service.request('POST', `/v1/bundles/${bundle}/uploads/${ticket.upload_id}/complete`, outcomeSchema, {
        sha256: body.sha256,
      }),
    ));
  // What was left out here never got there, so only we can tell of it.
  return { outcome: { ...published, bundle, mode, findings: packed.findings }, sent };
}

async function currentState(
  service: ServiceClient,
  bundle: BundleId,
  patience: Patience,
): Promise<z.infer<typeof bundleSchema> | undefined> {
  try {
    return await tried(patience, () => service.request('GET', `/v1/bundles/${bundle}`, bundleSchema));
  } catch (error) {
    // A key that may only write cannot ask; then the service finds out by itself.
    if (error instanceof SkillError && (error.kind === 'not_found' || error.code === 'forbidden'))
      return undefined;
    throw error;
  }
}

/** Every step is safe to repeat, so what broke off is asked again. */
async function tried<Result>({ note }: Patience, step: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await step();
    } catch (error) {
      const again =
        error instanceof SkillError &&
        !(error instanceof FinalError) &&
        (error.kind === 'unavailable' || error.kind === 'limited');
      if (!again || attempt === TRIES) throw error;
      note(`${error.message} Trying again (${attempt + 1} of ${TRIES}).`);
      await pause(PAUSE_MILLISECONDS * 2 ** (attempt - 1));
    }
  }
}
