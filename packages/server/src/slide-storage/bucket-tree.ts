/**
 * Presents a bucket with slides as a tree of folders, for the scan: slashes in keys separate folders. The whole bucket is listed
 * once; afterwards only the contents of objects are requested from the object storage.
 */
import { type ListedObject, type ObjectStore, SlideError, versionOfObject } from '@lamina/slide';
import { type FolderTree, type GroupFolder, pathIn, type TreeEntry } from './folder-tree.ts';

interface BucketTreeOptions {
  readonly store: Pick<ObjectStore, 'list' | 'read'>;
  /** Called with the key of a folder, without a final slash, as its first argument; '' is the root of the bucket. */
  readonly groupFiles: GroupFolder;
  readonly signal: AbortSignal;
}

interface Folder {
  /** Objects by file name. */
  readonly files: Map<string, ListedObject>;
  /** Names of the folders in this folder. */
  readonly folders: Set<string>;
  /** Indexes of the objects below the folder in the listing, which is sorted by key; `listingEnd` is exclusive. */
  readonly listingStart: number;
  listingEnd: number;
}

/** Lists a bucket, and returns its tree of folders. @throws SlideError when the object storage does not answer */
export async function readBucketTree({ store, groupFiles, signal }: BucketTreeOptions): Promise<FolderTree> {
  const listing: ListedObject[] = [];
  const folders = new Map<string, Folder>();
  folders.set('', { files: new Map(), folders: new Set(), listingStart: 0, listingEnd: 0 });
  const wholeBucket = ''; // prefix of all keys
  for await (const object of store.list(wholeBucket, signal)) {
    listing.push(object);
    const segments = object.key.split('/');
    const folderNames = segments.slice(0, -1);
    const fileName = segments.at(-1) ?? '';
    // Keys with a folder name that is empty, `.` or `..` are skipped, because they are not valid paths.
    if (folderNames.some((name) => name === '' || name === '.' || name === '..')) continue;
    const folder = findOrAddFolder(folderNames);
    // A key that ends with a slash stands for the folder itself. The file names `.` and `..` are not valid either.
    if (fileName !== '' && fileName !== '.' && fileName !== '..') folder.files.set(fileName, object);
  }

  /** Returns a folder, which is added if it is new. Extends its range and the ranges of its parents to the object listed last. */
  function findOrAddFolder(names: readonly string[]): Folder {
    let path = '';
    let folder = folders.get(path) as Folder;
    folder.listingEnd = listing.length;
    for (const name of names) {
      folder.folders.add(name);
      path = pathIn(path, name);
      const existing = folders.get(path);
      const listingStart = listing.length - 1; // index of the object listed last
      folder = existing ?? { files: new Map(), folders: new Set(), listingStart, listingEnd: 0 };
      folder.listingEnd = listing.length;
      if (existing === undefined) folders.set(path, folder);
    }
    return folder;
  }

  function objectAt(path: string): ListedObject | undefined {
    const lastSlash = path.lastIndexOf('/');
    const folder = folders.get(path.slice(0, Math.max(0, lastSlash)));
    return folder?.files.get(path.slice(lastSlash + 1));
  }

  return {
    async entriesOf(folder) {
      const listed = folders.get(folder);
      if (listed === undefined) return null;
      const entries: TreeEntry[] = [
        ...[...listed.files.keys()].map((name) => ({ name, kind: 'file' }) as const),
        // A path that is both a file and a folder is treated as the file.
        ...[...listed.folders]
          .filter((name) => !listed.files.has(name))
          .map((name) => ({ name, kind: 'folder' }) as const),
      ];
      return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
    },

    async find(folder, { name, kind }) {
      const resolvedPath = pathIn(folder, name);
      if (kind === 'folder') return { kind, resolvedPath };
      const object = objectAt(resolvedPath);
      if (object === undefined) return null;
      return { kind: 'file', resolvedPath, size: object.size, version: versionOfObject(object) };
    },

    async allBelow(folder) {
      const listed = folders.get(folder);
      if (listed === undefined) return null;
      const objects = listing.slice(listed.listingStart, listed.listingEnd);
      return {
        sizeBytes: objects.reduce((sum, { size }) => sum + size, 0),
        versions: objects.map(versionOfObject),
      };
    },

    async read(path, offset, length) {
      const object = objectAt(path);
      if (object === undefined) return null;
      const availableBytes = Math.max(0, Math.min(length, object.size - offset));
      if (availableBytes === 0) return new Uint8Array();
      try {
        return await store.read(object, offset, availableBytes, signal);
      } catch (error) {
        if (error instanceof SlideError && error.code === 'FILE_MISSING') return null;
        throw error;
      }
    },

    group: groupFiles,
  };
}
