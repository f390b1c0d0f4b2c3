import { canonicalJson } from '../core/canonical-json.ts';
import { decodeUtf8, encodeUtf8 } from '../core/format/utf8.ts';

/** Stored JSON; what cannot be read is corruption, and thrown as such. */
export function parseJson(bytes: Uint8Array): unknown {
  return JSON.parse(decodeUtf8(bytes) ?? '');
}

export function jsonBytes(value: unknown): Uint8Array {
  return encodeUtf8(canonicalJson(value));
}
