/** The one place that knows both kinds of places where slides lie: folders of this machine, and an object store. */
import { join, posix } from 'node:path';
import { SlideError, type SlideLocation } from '../slide.ts';
import type { ByteSource } from './byte-source.ts';
import { fingerprintOfFiles, openFileSource } from './file-source.ts';
import { fingerprintOfLocation, openObjectFiles, openObjectSource } from './object-files.ts';
import type { ObjectReader } from './object-reader.ts';
import { openLocalFiles, type SlideFiles, type SlideFolder } from './slide-files.ts';

/** What objects are read through; null where no store is known. */
export type Objects = ObjectReader | null;

/** A folder, or what the keys of objects begin with as if they lay in one: without a slash at its end. */
export type FolderLocation = Pick<SlideLocation, 'path' | 'isObject'>;

/** @throws SlideError FILE_MISSING, NOT_A_SLIDE, FILE_CHANGED, and what the store throws */
export async function openSlideFiles(location: SlideLocation, objects: Objects): Promise<SlideFiles> {
  return location.isObject ? openObjectFiles(location, known(objects)) : openLocalFiles(location);
}

/**
 * What `Slide.fingerprint` would be if the slide were opened now: tells a replaced file from the one that is open.
 * It changes with each of the members that the location names, and with each file in those that are folders. Of
 * objects it does not say where they lie, so one that was moved is recognised.
 *
 * @throws SlideError FILE_MISSING, also when a member is, and what the store throws
 */
export async function fingerprintOf(location: SlideLocation, objects: Objects): Promise<string> {
  return location.isObject ? fingerprintOfLocation(location, known(objects)) : fingerprintOfFiles(location);
}

/** For whoever tells which files of a folder are one slide. */
export function openSlideFolder(
  { path, isObject }: FolderLocation,
  names: readonly string[],
  folders: readonly string[],
  objects: Objects,
): SlideFolder {
  const open = async (name: string): Promise<ByteSource> =>
    isObject ? openObjectSource(posix.join(path, name), known(objects)) : openFileSource(join(path, name));
  return { names, folders, open };
}

/** @throws SlideError STORE_UNAVAILABLE */
function known(objects: Objects): ObjectReader {
  if (objects) return objects;
  throw new SlideError('STORE_UNAVAILABLE', 'No object store is set up');
}
