import { shouldRenew } from '../core/activation/activation.ts';
import { SkillError } from '../core/errors.ts';
import type { Digest, SessionId, SkillName } from '../core/ids.ts';
import { show } from '../core/ids.ts';
import type { ResourcePolicy } from '../core/limits.ts';
import type { ContentKind } from '../core/resources/content-kind.ts';
import { classifyContent } from '../core/resources/content-kind.ts';
import { selectResource } from '../core/resources/selector.ts';
import type { TenantAccess } from '../tenancy/tenant-access.ts';
import { listingOf, mustSource } from './activated.ts';

export interface LoadResourceInput {
  readonly name: SkillName;
  readonly session: SessionId;
  readonly relativePath: string;
}

/** A resource as loaded: exact bytes and what they are. */
export interface LoadedResource {
  readonly name: SkillName;
  readonly relative_path: string;
  readonly kind: ContentKind;
  readonly mime_type: string;
  readonly filename: string;
  readonly size: number;
  readonly digest: Digest;
  readonly bytes: Uint8Array;
  /** Present for text. */
  readonly text?: string;
  /** A signed URL for the bytes; undefined when its source has none. */
  link(): Promise<string> | undefined;
}

/**
 * Reads one listed resource of a skill that is active in the session (J19, J20): one item read and one object read.
 *
 * @throws SkillError skill_not_activated, resource_not_listed, invalid_resource_path, skill_md_not_a_resource,
 *   file_too_large, text_too_large, binary_rejected, signature_mismatch
 */
export async function loadResource(access: TenantAccess, input: LoadResourceInput): Promise<LoadedResource> {
  const activation = await access.activations.find(input.session, input.name);
  if (activation === undefined) {
    throw new SkillError('skill_not_activated', {
      detail: `The skill "${input.name}" is not loaded in this session.`,
    });
  }
  const source = mustSource(access, activation);
  const listing = await listingOf(source, activation);
  const entry = selectResource(listing.entries, input.relativePath, activation.skill_md.path);
  const policy = access.policy.resources;
  checkSize(entry.relative_path, entry.size, policy.max_file_bytes, 'file_too_large');
  const now = Math.floor(access.now().getTime() / 1000);
  const [bytes] = await Promise.all([
    source.read(entry.digest),
    shouldRenew(activation, now, access.sessionTtlSeconds)
      ? access.activations.renew(activation, now + access.sessionTtlSeconds)
      : undefined,
  ]);
  const content = await classifyContent(entry.relative_path, bytes);
  checkContent(entry.relative_path, content.kind, bytes.length, policy);
  return {
    name: input.name,
    relative_path: entry.relative_path,
    kind: content.kind,
    mime_type: content.mime_type,
    filename: entry.name,
    size: bytes.length,
    digest: entry.digest,
    bytes,
    link: () => source.link?.(entry.digest, entry.name),
    ...(content.text === undefined ? {} : { text: content.text }),
  };
}

function checkContent(path: string, kind: ContentKind, size: number, policy: ResourcePolicy): void {
  if (kind === 'text') checkSize(path, size, policy.max_text_bytes, 'text_too_large');
  else if (policy.binary === 'reject') {
    throw new SkillError('binary_rejected', {
      detail: `${show(path)} is not text and the policy rejects binary.`,
    });
  }
}

function checkSize(
  path: string,
  size: number,
  limit: number,
  code: 'file_too_large' | 'text_too_large',
): void {
  if (size <= limit) return;
  throw new SkillError(code, {
    detail: `${show(path)} has ${size} bytes; the limit is ${limit}.`,
    facts: { size, limit },
  });
}
