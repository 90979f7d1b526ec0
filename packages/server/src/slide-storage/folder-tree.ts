/**
 * Interface of a slide storage as a tree of folders and files, on a disk or in a bucket.
 *
 * Paths ("places") are relative to the root, with forward slashes; '' is the root.
 */
import type { SlideGroup } from '@lamina/slide';

export { fingerprintOfVersions } from '@lamina/slide';

/** An entry of a folder, without properties of its target. */
export interface TreeEntry {
  readonly name: string;
  readonly kind: 'file' | 'folder' | 'link';
}

/** A regular file or a folder, with all links resolved. */
export type TreeTarget =
  | {
      readonly kind: 'file';
      /** Path with all links resolved. */
      readonly realPlace: string;
      /** Size in bytes. */
      readonly size: number;
      /** Changes whenever the file changes; stays the same when the file is moved. */
      readonly version: string;
      /** Milliseconds since 1970: when a file on a disk was last written or renamed. An object is always complete. */
      readonly changedAt?: number;
    }
  | { readonly kind: 'folder'; readonly realPlace: string };

/** Methods throw when the storage does not answer. */
export interface FolderTree {
  /** Returns entries sorted by name, links last; null when the folder does not exist. */
  entriesOf(folder: string): Promise<readonly TreeEntry[] | null>;
  /** @returns null for a missing entry, for one that is neither file nor folder, and for a link out of the root */
  find(folder: string, entry: TreeEntry): Promise<TreeTarget | null>;
  /** Returns the properties of all regular files below a folder from which its fingerprint is computed; null when it does not exist. */
  allBelow(
    folder: string,
  ): Promise<{ readonly sizeBytes: number; readonly versions: readonly string[] } | null>;
  /**
   * @param realPlace path of a file
   * @returns fewer bytes at the end of the file; null when the file is missing
   */
  read(realPlace: string, offset: number, length: number): Promise<Uint8Array | null>;
  /**
   * Groups the files into slides by their contents, in a render worker.
   *
   * @returns null when the groups cannot be determined now
   */
  group(folder: string, names: readonly string[]): Promise<readonly SlideGroup[] | null>;
}

/** @returns null when the root does not exist, which means the same as an empty one. @throws when the storage does not answer */
export type ReadTree = () => Promise<FolderTree | null>;

/** Joins a folder and a name. */
export function placeIn(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`;
}
