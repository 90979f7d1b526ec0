/**
 * How a slide is known again: by the versions of its files, wherever they lie by now. What a file or an object is called
 * is no part of it, so that a slide that was moved is the same slide.
 */
import { createHash } from 'node:crypto';
import type { BigIntStats } from 'node:fs';

/**
 * Inode, size and time of the last change to the nanosecond: changes whenever the file does. Not its device: of a file
 * system that several machines share, each of them has another number.
 */
export function versionOfFile({ ino, size, mtimeNs }: Pick<BigIntStats, 'ino' | 'size' | 'mtimeNs'>): string {
  return `${ino} ${size} ${mtimeNs}`;
}

/** Of an object of a store; two objects with the same bytes may have the same. */
export function versionOfObject({ etag, size }: { readonly etag: string; readonly size: number }): string {
  return `object ${etag} ${size}`;
}

/**
 * Of a slide: of its leading file, and of its members in the order of its location; of a member that is a folder, the
 * folder's own version where folders have one, and the versions of the files below it, sorted by their paths.
 *
 * @returns URL-safe; hashed, for it goes out in ETags
 */
export function fingerprintOfVersions(versions: readonly string[]): string {
  return createHash('sha256').update(versions.join('\n')).digest('base64url').slice(0, 22);
}
