/**
 * The fingerprint of a slide, a value that changes whenever one of its files changes. It does not depend on names and paths, so a
 * slide that was moved keeps its fingerprint.
 */
import { createHash } from 'node:crypto';
import type { BigIntStats } from 'node:fs';

/**
 * Returns the version of a file: inode, size and modification time in nanoseconds. It does not contain the device number,
 * which differs between machines that share a file system.
 */
export function versionOfFile({ ino, size, mtimeNs }: Pick<BigIntStats, 'ino' | 'size' | 'mtimeNs'>): string {
  return `${ino} ${size} ${mtimeNs}`;
}

/** Returns the version of an object in object storage. Two objects with the same bytes may have the same version. */
export function versionOfObject({ etag, size }: { readonly etag: string; readonly size: number }): string {
  return `object ${etag} ${size}`;
}

/**
 * Combines the versions of a slide's files: the main file (by which the slide is opened), then the members (its other
 * files) in the order of `SlideLocation.members`. For a member that is a folder, the caller passes the versions of all
 * files below it, sorted by path. A folder on disk also has a version itself, which precedes those of its files.
 *
 * @returns a URL-safe hash of 22 characters: HTTP ETags contain it, and clients must not learn inodes or times
 */
export function fingerprintOfVersions(versions: readonly string[]): string {
  return createHash('sha256').update(versions.join('\n')).digest('base64url').slice(0, 22);
}
