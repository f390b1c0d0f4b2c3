import type { Manifest } from '../core/manifest/manifest.ts';
import { etagOf, matches } from './respond.ts';
import type { AppContext } from './route.ts';

/** Names the state of a bundle. */
export function bundleEtag(manifest: Manifest): string {
  return etagOf(manifest.generation, manifest.digest);
}

/** If-Match names the state to replace; If-None-Match: * allows only a new bundle. */
export function preconditionOf(
  context: AppContext,
): ((current: Manifest | undefined) => boolean) | undefined {
  const ifMatch = context.req.header('if-match');
  const ifNoneMatch = context.req.header('if-none-match');
  if (ifMatch !== undefined) {
    return (current) => current !== undefined && matches(ifMatch, bundleEtag(current));
  }
  return ifNoneMatch?.trim() === '*' ? (current) => current === undefined : undefined;
}
