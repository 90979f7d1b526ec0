/**
 * Fingerprints of slides, computed from the versions of their files. Names and paths are not part of them, so
 * a slide that was moved keeps its fingerprint.
 */
import { createHash } from 'node:crypto';
import type { BigIntStats } from 'node:fs';

/**
 * Version of a file: inode, size and time of the last change in nanoseconds. The device number is not part of
 * it, because it differs between machines that share a file system.
 */
export function versionOfFile({ ino, size, mtimeNs }: Pick<BigIntStats, 'ino' | 'size' | 'mtimeNs'>): string {
  return `${ino} ${size} ${mtimeNs}`;
}

/** Version of an object in object storage. Two objects with the same bytes may have the same version. */
export function versionOfObject({ etag, size }: { readonly etag: string; readonly size: number }): string {
  return `object ${etag} ${size}`;
}

/**
 * Combines the versions of a slide's files: the leading file, then the members in the order of the location.
 * A member folder contributes its own version, where folders have one, and those of the files below it,
 * sorted by path.
 *
 * @returns URL-safe; hashed, because it is sent in ETags
 */
export function fingerprintOfVersions(versions: readonly string[]): string {
  return createHash('sha256').update(versions.join('\n')).digest('base64url').slice(0, 22);
}
