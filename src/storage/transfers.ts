import type { Digest } from '../core/ids.ts';
import type { Lifetime } from '../core/manifest/lifetimes.ts';

/** What a client sends to put one object by itself. All of the headers are signed: without them it is refused. */
export interface SignedPut {
  /** Relative when the service itself takes the bytes. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * The port to URLs by which a client moves bytes to and from the bucket without passing them through us. Whoever holds
 * such a URL may use it until it expires, and for nothing else than what it was signed for.
 */
export interface Transfers {
  /** For exactly these bytes under this key: another size or another digest is refused by the bucket. */
  signPut(
    key: string,
    content: { readonly size: number; readonly sha256: Digest; readonly lifetime: Lifetime },
    seconds: number,
  ): Promise<SignedPut>;
  /** Answers the object as a download of that name, inert in a browser. */
  signGet(key: string, filename: string, seconds: number): Promise<string>;
}
