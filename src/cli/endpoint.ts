import { UsageError } from './io.ts';

/** What may stand behind `Bearer` (RFC 6750, section 2.1); API keys and JWTs are such. */
const BEARER = /^[A-Za-z0-9._~+/-]+=*$/;

/**
 * The URL of a service as its routes are appended to it: without a slash at the end.
 *
 * @throws UsageError, which never quotes what may be a password
 */
export function serviceUrl(given: string): string {
  // In a URL with a password something is before an @, also where it is cut off by a `/` and so no part of the host.
  if (given.includes('@')) {
    throw new UsageError('The URL holds a user name or a password; a service takes a key (SKILLBUCKET_KEY).');
  }
  if (!/^https?:\/\/[^/\s]\S*$/i.test(given) || !URL.canParse(given)) {
    throw new UsageError(`${JSON.stringify(given)} is not an http(s) URL of a service.`);
  }
  const { search, hash } = new URL(given);
  if (search !== '' || hash !== '') {
    throw new UsageError('The URL of a service has no query and no fragment.');
  }
  return given.replace(/\/+$/, '');
}

/** @throws UsageError, which does not quote it */
export function serviceKey(given: string): string {
  if (BEARER.test(given)) return given;
  throw new UsageError(
    'The key holds characters that no key has, such as a line break or a space. Was it copied whole, and alone?',
  );
}
