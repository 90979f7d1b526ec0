/** Opens the files of a slide in a local folder or in object storage; the only module that depends on both. */
import { join, posix } from 'node:path';
import { SlideError, type SlideLocation } from '../model/slide.ts';
import { fingerprintOfObjectsAt, openObjectFiles, openObjectSource } from '../object-storage/object-files.ts';
import type { ObjectReader } from '../object-storage/object-reader.ts';
import type { ByteSource } from '../source/byte-source.ts';
import { fingerprintOfFiles, openFileSource } from '../source/file-source.ts';
import { openLocalFiles, type SlideFiles, type SlideFolder } from '../source/slide-files.ts';

/** Reads objects in object storage; null when none is configured. */
export type OptionalObjectReader = ObjectReader | null;

/** A local folder, or a common key prefix of objects. The path has no trailing slash. */
export type FolderLocation = Pick<SlideLocation, 'path' | 'isObject'>;

/** Opens the files of a slide. @throws SlideError FILE_MISSING, NOT_A_SLIDE, FILE_CHANGED, and errors of object storage */
export async function openSlideFiles(
  location: SlideLocation,
  objects: OptionalObjectReader,
): Promise<SlideFiles> {
  return location.isObject
    ? openObjectFiles(location, requireObjectReader(objects))
    : openLocalFiles(location);
}

/**
 * Returns the `Slide.fingerprint` that the slide would have if it were opened now. If it differs from the fingerprint of
 * an open slide, the slide's files have changed since. The fingerprint covers all members of the location (the other files and
 * folders of the slide), including the files in those folders. It does not depend on the path, so a moved slide keeps it.
 *
 * @throws SlideError FILE_MISSING when the main file or a member is missing, and errors of object storage
 */
export async function fingerprintOf(location: SlideLocation, objects: OptionalObjectReader): Promise<string> {
  return location.isObject
    ? fingerprintOfObjectsAt(location, requireObjectReader(objects))
    : fingerprintOfFiles(location);
}

/** Returns a folder with these files and subfolders. Its files can be opened by name, so that they can be grouped into slides. */
export function openSlideFolder(
  { path, isObject }: FolderLocation,
  fileNames: readonly string[],
  folderNames: readonly string[],
  objects: OptionalObjectReader,
): SlideFolder {
  const open = async (name: string): Promise<ByteSource> =>
    isObject
      ? openObjectSource(posix.join(path, name), requireObjectReader(objects))
      : openFileSource(join(path, name));
  return { names: fileNames, folders: folderNames, open };
}

/** Returns the reader of objects. @throws SlideError STORE_UNAVAILABLE when no object storage is configured */
function requireObjectReader(objects: OptionalObjectReader): ObjectReader {
  if (objects) return objects;
  throw new SlideError('STORE_UNAVAILABLE', 'No object storage is configured');
}
