import type { Activation } from '../core/activation/activation.ts';
import { fitsItem, shouldRenew } from '../core/activation/activation.ts';
import type { CatalogSkill } from '../core/catalog/catalog.ts';
import { locationOf } from '../core/catalog/catalog.ts';
import { withinTokens } from '../core/catalog/tokens.ts';
import { SkillError } from '../core/errors.ts';
import { parseSkill } from '../core/format/skill-document.ts';
import type { SkillMetadata } from '../core/format/skill-document.ts';
import { decodeUtf8 } from '../core/format/utf8.ts';
import type { BundleId, Digest, SessionId, SkillName } from '../core/ids.ts';
import type { ResourceListing } from '../core/resources/listing.ts';
import { authorizeListing, groupListing } from '../core/resources/listing.ts';
import type { LoadResult } from '../core/records/receipt.ts';
import type { LoadRecord } from '../records/load-records.ts';
import type { TenantAccess } from '../tenancy/tenant-access.ts';
import { listingOf, mustSource } from './activated.ts';

export interface LoadSkillInput {
  readonly name: SkillName;
  readonly session: SessionId;
  /** Repeats the instructions of a skill that is loaded already. */
  readonly force: boolean;
  readonly maxTokens: number;
  /** Load from exactly these bundles; only together with `trust`. */
  readonly bundles?: readonly BundleId[];
  readonly trust: boolean;
  /** The digest of a descriptor that was listed before: another state is refused (N4). */
  readonly digest?: Digest;
}

/** The tool result of `load_skill` (contract, "Tool results"). */
export interface LoadedSkill {
  readonly name: SkillName;
  readonly description: string;
  /** Left out when the session has the skill already. */
  readonly instructions?: string;
  readonly root_dir: string;
  readonly resources: ResourceListing;
  readonly allowed_tools: readonly string[];
  readonly activation: {
    readonly session_id: SessionId;
    readonly skill_digest: Digest;
    readonly revision: number;
    readonly activated_at: string;
    readonly expires_at: string;
    readonly already_active: boolean;
    readonly stale: boolean;
  };
  readonly truncated: boolean;
  readonly estimated_tokens: number;
  readonly token_limit: number;
  readonly durable: true;
}

/** The tool result, and the exact bytes that it was made of. */
export interface LoadOutcome {
  readonly result: LoadedSkill;
  readonly skillMd: { readonly bytes: Uint8Array; readonly digest: Digest; readonly filename: string };
}

/**
 * Activates a skill in a session (J2, J16, J17). One object is read while the activation is written (on condition that
 * the session has none) and after it the receipt and the day's count; nothing is answered without a receipt. A second
 * load answers from the version that the session keeps, until it is released.
 *
 * @throws SkillError skill_not_found, skill_changed, untrusted_skill_path, unavailable; nothing stays activated then
 */
export async function loadSkill(access: TenantAccess, input: LoadSkillInput): Promise<LoadOutcome> {
  const record = access.records.open({
    principal: access.principal.id,
    session: input.session,
    skill: input.name,
  });
  const skill = await recorded(record, () => findSkill(access, input));
  const { entry } = skill;
  const fresh = newActivation(access, skill, input.session);
  if (input.digest !== undefined && input.digest !== entry.digest) {
    const error = new SkillError('skill_changed', {
      detail: `The skill "${input.name}" is not the one that was listed any more.`,
    });
    await record.write({ ...resultOf(error), ...versionOf(fresh) });
    throw error;
  }
  const [read, begun] = await Promise.allSettled([
    readActivated(access, fresh),
    beginRecorded(access, fresh, record),
  ]);
  if (begun.status === 'rejected') throw begun.reason;
  const standing = begun.value;
  if (standing === undefined) {
    if (read.status === 'rejected') {
      // Instructions that nobody received must not count as loaded.
      await Promise.all([
        access.activations.release(input.session, input.name, fresh.activated_at),
        record.write({ ...resultOf(read.reason), ...versionOf(fresh) }),
      ]);
      throw read.reason;
    }
    return outcome(access, input, fresh, read.value, { alreadyActive: false, stale: false });
  }
  const stale = standing.skill_digest !== entry.digest || !sameRoot(standing, skill.root);
  const [pinned, renewed] = await recorded(
    record,
    () =>
      Promise.all([
        !stale && read.status === 'fulfilled' ? read.value : readActivated(access, standing),
        renew(access, standing),
      ]),
    standing,
  );
  return outcome(access, input, renewed, pinned, { alreadyActive: true, stale });
}

/** Of several at once one begins: then undefined, else the activation that stands. Recorded either way. */
async function beginRecorded(
  access: TenantAccess,
  fresh: Activation,
  record: LoadRecord,
): Promise<Activation | undefined> {
  const begun = await access.activations.begin(fresh);
  if (begun !== 'begun') {
    await record.write({ decision: 'already_active', ...versionOf(begun) });
    return begun;
  }
  try {
    await record.write({ decision: 'loaded', ...versionOf(fresh) });
  } catch (error) {
    await access.activations.release(fresh.session_id, fresh.skill, fresh.activated_at);
    throw error;
  }
  return undefined;
}

/** Leaves a receipt of what goes wrong. */
async function recorded<T>(record: LoadRecord, step: () => Promise<T>, of?: Activation): Promise<T> {
  try {
    return await step();
  } catch (error) {
    await record.write({ ...resultOf(error), ...(of === undefined ? {} : versionOf(of)) });
    throw error;
  }
}

function resultOf(error: unknown): Pick<LoadResult, 'decision' | 'code'> {
  if (!(error instanceof SkillError)) return { decision: 'failed', code: 'internal' };
  const isOurs = error.kind === 'unavailable' || error.kind === 'internal';
  return { decision: isOurs ? 'failed' : 'refused', code: error.code };
}

const versionOf = ({ owner, bundle, revision, skill_digest }: Activation) => ({
  owner,
  bundle,
  revision,
  skill_digest,
});

async function findSkill(access: TenantAccess, input: LoadSkillInput): Promise<CatalogSkill> {
  if (input.bundles !== undefined && !input.trust) {
    throw new SkillError('untrusted_skill_path', {
      detail: `Loading from named bundles needs "trust": true (${input.bundles.join(', ')}).`,
      facts: { path: input.bundles.map((bundle) => `bundle://${access.tenant}/${bundle}`).join(' ') },
    });
  }
  const catalog =
    input.bundles === undefined ? await access.catalog() : await access.catalogOf(input.bundles);
  const skill = catalog.byName.get(input.name);
  if (skill !== undefined) return skill;
  const standing = await access.activations.find(input.session, input.name);
  throw new SkillError('skill_not_found', {
    detail:
      standing === undefined
        ? `There is no skill "${input.name}".`
        : `The skill "${input.name}" was removed since this session loaded it.`,
  });
}

function newActivation(access: TenantAccess, skill: CatalogSkill, session: SessionId): Activation {
  const { entry, root } = skill;
  const now = access.now();
  const policy = access.policy.resources;
  const listing =
    entry.files === undefined ? undefined : authorizeListing(entry.files, entry.skill_md.path, policy);
  const stored =
    listing === undefined
      ? undefined
      : { entries: [...listing.entries], truncation_reasons: [...listing.truncation_reasons] };
  return {
    session_id: session,
    skill: entry.name,
    owner: root.owner,
    bundle: root.bundle,
    directory: entry.directory,
    revision: skill.revision,
    mode: skill.mode,
    skill_digest: entry.digest,
    skill_md: entry.skill_md,
    tags: entry.tags,
    ...(entry.disable_model_invocation === true ? { disable_model_invocation: true } : {}),
    ...(stored !== undefined && fitsItem(stored) ? { listing: stored } : {}),
    policy,
    activated_at: now.toISOString(),
    expires_at: Math.floor(now.getTime() / 1000) + access.sessionTtlSeconds,
  };
}

interface Read {
  readonly bytes: Uint8Array;
  readonly metadata: SkillMetadata;
  readonly instructions: string;
  readonly listing: ResourceListing;
}

/** The version that an activation pins, validated again in the mode that it was published in. */
async function readActivated(access: TenantAccess, activation: Activation): Promise<Read> {
  const source = mustSource(access, activation);
  const [bytes, listing] = await Promise.all([
    source.read(activation.skill_md.digest),
    listingOf(source, activation),
  ]);
  const { mode, skill_md, directory } = activation;
  // The same bytes under the same rules: validated once a process, and only the body is read again.
  const parsed = access.validated([skill_md.digest, skill_md.path, mode, activation.skill, directory], () =>
    parseSkill(
      {
        path: `${activation.skill}/${skill_md.path}`,
        fileName: skill_md.path,
        directory: directory === '.' ? undefined : directory.split('/').at(-1),
        bytes,
      },
      mode,
    ),
  );
  const instructions = decodeUtf8(bytes.subarray(parsed.bodyOffset));
  if (parsed.metadata === undefined || instructions === undefined) {
    // It was valid when published, so the rules or the bytes changed since; serving it would be a guess.
    throw new SkillError('skill_changed', {
      detail: `The skill "${activation.skill}" is not valid any more; publish it again.`,
      findings: parsed.findings,
    });
  }
  return {
    bytes,
    metadata: parsed.metadata,
    instructions,
    listing: groupListing(listing, activation.policy),
  };
}

async function renew(access: TenantAccess, activation: Activation): Promise<Activation> {
  const now = Math.floor(access.now().getTime() / 1000);
  if (!shouldRenew(activation, now, access.sessionTtlSeconds)) return activation;
  const expires_at = now + access.sessionTtlSeconds;
  await access.activations.renew(activation, expires_at);
  return { ...activation, expires_at };
}

function sameRoot(
  activation: Activation,
  root: { readonly owner: string; readonly bundle: string },
): boolean {
  return activation.owner === root.owner && activation.bundle === root.bundle;
}

function outcome(
  access: TenantAccess,
  input: LoadSkillInput,
  activation: Activation,
  read: Read,
  state: { readonly alreadyActive: boolean; readonly stale: boolean },
): LoadOutcome {
  const limit = Math.min(input.maxTokens, access.policy.maxTokens);
  const told = !state.alreadyActive || input.force;
  const budgeted = withinTokens(told ? read.instructions : '', limit);
  const root = { owner: activation.owner, bundle: activation.bundle };
  const result: LoadedSkill = {
    name: activation.skill,
    description: read.metadata.description,
    ...(told ? { instructions: budgeted.text } : {}),
    root_dir: locationOf(root, activation),
    resources: read.listing,
    allowed_tools: read.metadata.allowedTools,
    activation: {
      session_id: activation.session_id,
      skill_digest: activation.skill_digest,
      revision: activation.revision,
      activated_at: activation.activated_at,
      expires_at: new Date(activation.expires_at * 1000).toISOString(),
      already_active: state.alreadyActive,
      stale: state.stale,
    },
    truncated: budgeted.truncated,
    estimated_tokens: budgeted.estimated_tokens,
    token_limit: limit,
    durable: true,
  };
  const { digest, path: filename } = activation.skill_md;
  return { result, skillMd: { bytes: read.bytes, digest, filename } };
}
