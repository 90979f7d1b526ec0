/**
 * The interface of slide storage as a tree of folders and files, on a disk or in a bucket. The scan uses it to find slides.
 *
 * All paths are relative to the slide root (the slide folder or the bucket), with forward slashes; '' is the root.
 */
import type { SlideGroup } from '@lamina/slide';

export { fingerprintOfVersions, type SlideGroup } from '@lamina/slide';

/**
 * Groups files of a folder into slides by their contents, in a render worker (a separate process), because the files are untrusted.
 *
 * @returns null when the groups cannot be determined now, because the server is busy or the storage does not respond; `failed` when
 *   reading a file crashed the worker or took too long
 */
export type GroupFolder = (folder: string, names: readonly string[]) => Promise<FolderGroups>;
export type FolderGroups = readonly SlideGroup[] | 'failed' | null;

/** An entry of a folder as it is listed; for a link, the kind of its target is not yet known. */
export interface TreeEntry {
  readonly name: string;
  readonly kind: 'file' | 'folder' | 'link';
}

/** A regular file or a folder, with all links resolved. */
export type TreeTarget =
  | {
      readonly kind: 'file';
      /** Path with all links resolved. */
      readonly resolvedPath: string;
      /** Size in bytes. */
      readonly size: number;
      /** Changes whenever the file changes; stays the same when the file is moved. */
      readonly version: string;
      /**
       * Time when a file on a disk was last written or renamed, in milliseconds since 1970: a file changed recently may be
       * incomplete. Absent for an object in a bucket, which is always complete.
       */
      readonly changedAt?: number;
    }
  | { readonly kind: 'folder'; readonly resolvedPath: string };

/** A slide root as a tree. All methods throw when the storage does not answer. */
export interface FolderTree {
  /** Returns entries sorted by name, links last; null when the folder does not exist. */
  entriesOf(folder: string): Promise<readonly TreeEntry[] | null>;
  /** Returns the file or folder of an entry or link; null if it is missing, neither a file nor a folder, or outside the root. */
  find(folder: string, entry: TreeEntry): Promise<TreeTarget | null>;
  /**
   * Returns the total size and the versions (sorted by path) of all regular files below a folder; null when it does not exist.
   * On a disk, the version of the folder itself comes first, as in the fingerprint of the slide (`fingerprintOf` of @lamina/slide).
   */
  allBelow(
    folder: string,
  ): Promise<{ readonly sizeBytes: number; readonly versions: readonly string[] } | null>;
  /**
   * Reads bytes of a file.
   *
   * @param resolvedPath path of the file with all links resolved
   * @returns fewer bytes than requested at the end of the file; null when the file is missing
   */
  read(resolvedPath: string, offset: number, length: number): Promise<Uint8Array | null>;
  readonly group: GroupFolder;
}

/**
 * Opens the tree of a slide root.
 *
 * @returns null when the root does not exist, which means the same as an empty one
 * @throws an error when the storage does not answer
 */
export type ReadTree = () => Promise<FolderTree | null>;

/** Returns the path of an entry of a folder. */
export function pathIn(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`;
}
