import type { Lifetime } from '../core/manifest/lifetimes.ts';

/**
 * The port to a bucket. Expected outcomes are answered with literals and not thrown; what cannot be answered now is
 * thrown as `SkillError("unavailable")`, so "absent" is never confused with "try again".
 *
 * A key is well-formed Unicode: segments of at most 80 bytes, none empty, with `/` between them.
 */
export interface StoredObject {
  readonly bytes: Uint8Array;
  /** Opaque; of one key, equal only for the same bytes. S3 gives it again when the same bytes come again. */
  readonly etag: string;
}

/** `"absent"`: only create. An ETag: only replace that very state. There is no unconditional write. */
export type PutCondition = 'absent' | { readonly matches: string };

export interface ObjectStore {
  /** The object; `undefined` when there is none; `"unmodified"` when it still has the ETag `unless`. */
  get(key: string, unless?: string): Promise<StoredObject | 'unmodified' | undefined>;
  /**
   * Writes the whole object or nothing, durably. Of several writers with the same condition and different bytes
   * exactly one is told an ETag; all others are told `"stale"`, and so is a writer whose ETag names an object that is
   * not there. With a lifetime the bucket deletes the object some time after its days are over.
   */
  put(
    key: string,
    bytes: Uint8Array,
    condition: PutCondition,
    lifetime?: Lifetime,
  ): Promise<{ readonly etag: string } | 'stale'>;
  /** How many bytes the object has, without reading them; `undefined` when there is none. */
  size(key: string): Promise<number | undefined>;
  /** Every key that begins with `prefix`, in no promised order. For maintenance and never for serving (D1). */
  list(prefix: string): AsyncIterable<string>;
}

/** Reads an object that must be there; its absence is our incident. */
export async function mustGet(store: ObjectStore, key: string): Promise<StoredObject> {
  const object = await store.get(key);
  if (object === undefined || object === 'unmodified') throw new Error(`The bucket lost ${key}.`);
  return object;
}
