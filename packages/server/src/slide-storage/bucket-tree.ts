/**
 * A bucket with slides as a tree of folders: slashes in keys separate folders. One listing of the whole bucket answers all
 * questions; only the contents of objects are requested.
 */
import {
  type ListedObject,
  type ObjectStore,
  SlideError,
  type SlideGroup,
  versionOfObject,
} from '@lamina/slide';
import { type FolderTree, placeIn, type TreeEntry } from './folder-tree.ts';

/** Groups objects into slides, in a render worker because the objects are untrusted. @param folder key without a final slash; '' is the bucket */
type GroupFiles = (folder: string, names: readonly string[]) => Promise<readonly SlideGroup[] | null>;

interface BucketTreeOptions {
  readonly store: Pick<ObjectStore, 'list' | 'read'>;
  readonly lookInto: GroupFiles;
  readonly signal: AbortSignal;
}

interface Folder {
  readonly files: Map<string, ListedObject>;
  readonly folders: Set<string>;
  /** Start and end (exclusive) of the range of the listing that contains the objects below the folder. */
  from: number;
  to: number;
}

/** @throws SlideError when the store does not answer */
export async function readBucketTree({ store, lookInto, signal }: BucketTreeOptions): Promise<FolderTree> {
  const listing: ListedObject[] = [];
  const folders = new Map<string, Folder>();
  folders.set('', { files: new Map(), folders: new Set(), from: 0, to: 0 });
  for await (const object of store.list('', signal)) {
    listing.push(object);
    const [names, name = ''] = [object.key.split('/').slice(0, -1), object.key.split('/').at(-1)];
    // Keys with an empty part, `.` or `..` are skipped, because they are not valid paths.
    if (names.some((part) => part === '' || part === '.' || part === '..')) continue;
    const folder = folderOf(names);
    // A key that ends with a slash stands for the folder itself.
    if (name !== '' && name !== '.' && name !== '..') folder.files.set(name, object);
  }

  /** Returns the folder, new or known. Its range and those of its parents now end at the end of the listing. */
  function folderOf(names: readonly string[]): Folder {
    let place = '';
    let folder = folders.get(place) as Folder;
    folder.to = listing.length;
    for (const name of names) {
      folder.folders.add(name);
      place = placeIn(place, name);
      const known = folders.get(place);
      folder = known ?? { files: new Map(), folders: new Set(), from: listing.length - 1, to: 0 };
      folder.to = listing.length;
      if (known === undefined) folders.set(place, folder);
    }
    return folder;
  }

  function objectAt(place: string): ListedObject | undefined {
    const end = place.lastIndexOf('/');
    return folders.get(place.slice(0, Math.max(0, end)))?.files.get(place.slice(end + 1));
  }

  return {
    async entriesOf(folder) {
      const found = folders.get(folder);
      if (found === undefined) return null;
      const entries: TreeEntry[] = [
        ...[...found.files.keys()].map((name) => ({ name, kind: 'file' }) as const),
        // A path that is both a file and a folder is treated as the file.
        ...[...found.folders]
          .filter((name) => !found.files.has(name))
          .map((name) => ({ name, kind: 'folder' }) as const),
      ];
      return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
    },

    async find(folder, { name, kind }) {
      const realPlace = placeIn(folder, name);
      if (kind === 'folder') return { kind, realPlace };
      const object = objectAt(realPlace);
      if (object === undefined) return null;
      return { kind: 'file', realPlace, size: object.size, version: versionOfObject(object) };
    },

    async allBelow(folder) {
      const found = folders.get(folder);
      if (found === undefined) return null;
      const below = listing.slice(found.from, found.to);
      return {
        sizeBytes: below.reduce((sum, { size }) => sum + size, 0),
        versions: below.map(versionOfObject),
      };
    },

    async read(place, offset, length) {
      const object = objectAt(place);
      if (object === undefined) return null;
      const available = Math.max(0, Math.min(length, object.size - offset));
      if (available === 0) return new Uint8Array();
      try {
        return await store.read(object, offset, available, signal);
      } catch (error) {
        if (error instanceof SlideError && error.code === 'FILE_MISSING') return null;
        throw error;
      }
    },

    group: lookInto,
  };
}
