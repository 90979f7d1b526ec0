/**
 * Returns whether If-None-Match contains the ETag, or is `*`. Tags are compared without the prefix `W/` (RFC 9110 section 13.1.2), which
 * a reverse proxy adds when it compresses a response.
 */
export function matchesEtag(etag: string, ifNoneMatch: string | undefined): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch === etag) return true; // the usual case; it must be fast for tiles
  const withoutWeakPrefix = (tag: string) => tag.trim().replace(/^W\//, '');
  return ifNoneMatch
    .split(',')
    .some((tag) => withoutWeakPrefix(tag) === withoutWeakPrefix(etag) || tag.trim() === '*');
}
