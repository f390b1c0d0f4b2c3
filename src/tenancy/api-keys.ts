import { createHash, randomBytes } from 'node:crypto';

/** `sb_<id>_<secret>`: the id may be shown and logged, the secret is shown once. */
export interface IssuedKey {
  readonly id: string;
  /** The whole key, to be handed over and forgotten. */
  readonly key: string;
  /** SHA-256 of the secret, in hex: what is stored. */
  readonly secretHash: string;
}

const KEY = /^sb_([a-z0-9]{12})_([A-Za-z0-9-]{43})$/;
const ID_ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789';

export function issueKey(): IssuedKey {
  // 36 does not divide 256; the id is a name and not a secret, so the slight bias is of no account.
  const id = [...randomBytes(12)].map((byte) => ID_ALPHABET[byte % ID_ALPHABET.length]).join('');
  const secret = randomBytes(32).toString('base64url').replaceAll('_', '-');
  return { id, key: `sb_${id}_${secret}`, secretHash: hashSecret(secret) };
}

/** Takes a key apart; undefined when it is not one. */
export function readKey(key: string): { readonly id: string; readonly secretHash: string } | undefined {
  const match = KEY.exec(key);
  const [, id, secret] = match ?? [];
  return id === undefined || secret === undefined ? undefined : { id, secretHash: hashSecret(secret) };
}

/** A secret of 256 random bits needs no slow hash. */
function hashSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}
