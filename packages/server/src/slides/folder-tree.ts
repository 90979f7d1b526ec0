/**
 * Where slides lie, whatever keeps them: folders and files below a root, on a disk or in a bucket.
 *
 * Places are below the root, with forward slashes; '' is the root.
 */
import type { SlideGroup } from '@lamina/slide';

export { fingerprintOfVersions } from '@lamina/slide';

/** What a folder says of one of its entries without looking at it. */
export interface TreeEntry {
  readonly name: string;
  readonly kind: 'file' | 'folder' | 'link';
}

/** A regular file, or a folder, all links followed. */
export type TreeTarget =
  | {
      readonly kind: 'file';
      /** Where it really is. */
      readonly realPlace: string;
      /** Bytes. */
      readonly size: number;
      /** Changes whenever the file does; goes along with it when it is moved. */
      readonly version: string;
    }
  | { readonly kind: 'folder'; readonly realPlace: string };

/** As it is while somebody looks through it. Whatever cannot be told now throws. */
export interface FolderTree {
  /** In the order of their names, links last; null when there is no such folder. */
  entriesOf(folder: string): Promise<readonly TreeEntry[] | null>;
  /** @returns null for what is not there, for what is neither file nor folder, and for what lies outside the root */
  find(folder: string, entry: TreeEntry): Promise<TreeTarget | null>;
  /**
   * Of all regular files below a folder, as a fingerprint is made of it; null when there is no such folder.
   */
  allBelow(
    folder: string,
  ): Promise<{ readonly sizeBytes: number; readonly versions: readonly string[] } | null>;
  /**
   * @param realPlace of a file
   * @returns fewer bytes where the file ends before; null when it is not there
   */
  read(realPlace: string, offset: number, length: number): Promise<Uint8Array | null>;
  /**
   * Which of these files are one slide, told by what stands in them, in a process of its own.
   *
   * @returns null when that cannot be told now
   */
  group(folder: string, names: readonly string[]): Promise<readonly SlideGroup[] | null>;
}

/** @returns null when there is no root: the same as an empty one. @throws when it cannot be told what is there */
export type LookAtTree = () => Promise<FolderTree | null>;

export function placeIn(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`;
}
