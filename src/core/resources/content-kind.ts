import { lookup } from 'mime-types';
import { SkillError } from '../errors.ts';
import { show } from '../ids.ts';
import { decodeUtf8 } from '../format/utf8.ts';

export type ContentKind = 'text' | 'image' | 'file';

export interface ContentType {
  readonly kind: ContentKind;
  readonly mime_type: string;
  /** Present for text: the decoded bytes. */
  readonly text?: string;
}

/** Formats whose signature must agree with extension and MIME type (J13). */
const SIGNED: ReadonlySet<string> = new Set([
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
  'application/pdf',
]);
const OCTETS = 'application/octet-stream';

/** The MIME type to publish for a file: by extension when that agrees with being text or not. */
export function mimeTypeOf(path: string, bytes: Uint8Array): string {
  const known = byExtension(path);
  if (known !== undefined && SIGNED.has(known)) return known;
  if (isText(bytes)) return known !== undefined && isTextual(known) ? known : 'text/plain';
  return known === undefined || isTextual(known) ? OCTETS : known;
}

/**
 * What loaded content is. Valid UTF-8 without NUL is text and its extension is trusted: sniffing would call a note
 * that begins with "BM" a bitmap. Everything else is sniffed, and a signature that disagrees with the extension is
 * refused.
 *
 * @throws SkillError signature_mismatch
 */
export async function classifyContent(path: string, bytes: Uint8Array): Promise<ContentType> {
  const claimed = byExtension(path);
  const mustSign = claimed !== undefined && SIGNED.has(claimed);
  const text = mustSign ? undefined : textOf(bytes);
  if (text !== undefined) return { kind: 'text', mime_type: mimeTypeOf(path, bytes), text };
  const sniffed = await sniff(bytes);
  const signature = sniffed !== undefined && SIGNED.has(sniffed) ? sniffed : undefined;
  if (mustSign ? signature !== claimed : signature !== undefined && claimed !== undefined) {
    throw new SkillError('signature_mismatch', {
      detail: `${show(path)} is named like ${claimed ?? 'an unknown format'} but its content is ${sniffed ?? 'something else'}.`,
    });
  }
  const mime = signature ?? mimeTypeOf(path, bytes);
  return { kind: mime.startsWith('image/') && SIGNED.has(mime) ? 'image' : 'file', mime_type: mime };
}

async function sniff(bytes: Uint8Array): Promise<string | undefined> {
  // Most resources are text and never come here.
  const { fileTypeFromBuffer } = await import('file-type');
  const mime = (await fileTypeFromBuffer(bytes))?.mime;
  // An animated PNG is a PNG: same extension, same signature, readable by whoever reads PNG.
  return mime === 'image/apng' ? 'image/png' : mime;
}

function byExtension(path: string): string | undefined {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const type = name.includes('.') ? lookup(name) : false;
  return type === false ? undefined : type;
}

function textOf(bytes: Uint8Array): string | undefined {
  return bytes.includes(0) ? undefined : decodeUtf8(bytes);
}

function isText(bytes: Uint8Array): boolean {
  return textOf(bytes) !== undefined;
}

function isTextual(mime: string): boolean {
  if (mime.startsWith('text/') || mime === 'image/svg+xml') return true;
  return /^application\/(?:.*\+)?(?:json|xml|yaml|toml|javascript|ecmascript|sql|x-sh|x-httpd-php|graphql|jsonl?)$/.test(
    mime,
  );
}
