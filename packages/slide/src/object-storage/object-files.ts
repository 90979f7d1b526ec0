/**
 * The files of a slide in object storage: the main object, by which the slide is opened, and the members (its other
 * objects) in the same folder. The folder of an object is its key up to and including the last slash.
 */
import { posix } from 'node:path';
import { SlideError, type SlideLocation } from '../model/slide.ts';
import { type ByteSource, checkRange } from '../source/byte-source.ts';
import { fingerprintOfVersions, versionOfObject } from '../source/fingerprint.ts';
import { isMember, notAMemberError, type SlideFiles } from '../source/slide-files.ts';
import type { ObjectReader } from './object-reader.ts';
import type { ObjectMetadata, StoredObject } from './object-store.ts';

/** Opens one object. @throws SlideError FILE_MISSING; errors of the store */
export async function openObjectSource(key: string, objects: ObjectReader): Promise<ByteSource> {
  return objectSource({ key, ...(await objects.head(key)) }, objects);
}

/** Opens a slide in object storage. @throws SlideError FILE_MISSING; errors of the store */
export async function openObjectFiles(location: SlideLocation, objects: ObjectReader): Promise<SlideFiles> {
  const { path: key, members } = location;
  const object = { key, ...(await objects.head(key)) };
  const main = objectSource(object, objects);
  const name = posix.basename(key);
  const folder = folderOf(key);
  return {
    name,
    path: null,
    isObject: true,
    main,
    fingerprint: members?.length
      ? fingerprintOfObjects([object, ...(await metadataOfMembers(location, objects))])
      : main.fingerprint,
    async list() {
      if (members) return [name, ...members].sort();
      const objectsBelow = await objects.list(folder);
      return objectsBelow.flatMap(({ key: keyBelow }) => nameIn(folder, keyBelow) ?? []).sort();
    },
    async listFolder(memberFolder) {
      if (!memberFolder.endsWith('/') || !members?.includes(memberFolder)) throw notAMemberError();
      const objectsBelow = await objects.list(folder + memberFolder);
      return objectsBelow.map(({ key: keyBelow, size }) => ({ path: keyBelow.slice(folder.length), size }));
    },
    async open(memberName) {
      const memberKey = keyOfMember(folder, memberName);
      if (members && !isMember(memberKey.slice(folder.length), members)) throw notAMemberError();
      return openObjectSource(memberKey, objects);
    },
    async pathOf() {
      throw new SlideError(
        'FORMAT_NOT_SUPPORTED',
        'OpenSlide can read local files only, not objects in object storage',
      );
    },
    close: async () => {},
  };
}

/**
 * Computes the fingerprint of the current objects without opening them.
 *
 * @throws SlideError FILE_MISSING when the main object or a member is missing
 */
export async function fingerprintOfObjectsAt(
  location: SlideLocation,
  objects: ObjectReader,
): Promise<string> {
  const [main, members] = await Promise.all([
    objects.head(location.path),
    metadataOfMembers(location, objects),
  ]);
  return fingerprintOfObjects([main, ...members]);
}

/** Returns size and ETag of each member; for a member that is a folder, of all objects below it. */
async function metadataOfMembers(
  { path, members = [] }: SlideLocation,
  objects: ObjectReader,
): Promise<readonly ObjectMetadata[]> {
  const folder = folderOf(path);
  const metadata = await Promise.all(
    members.map((member) =>
      member.endsWith('/') ? objects.list(folder + member) : objects.head(folder + member),
    ),
  );
  return metadata.flat();
}

function objectSource(object: StoredObject, objects: ObjectReader): ByteSource {
  const { size } = object;
  const readInto: ByteSource['readInto'] = async (target, targetStart, offset, length, signal) => {
    signal?.throwIfAborted();
    checkRange(offset, length, size);
    await objects.readInto(object, target, targetStart, offset, length, signal);
  };
  return {
    size,
    fingerprint: fingerprintOfObjects([object]),
    async read(offset, length, signal) {
      // Checked before the allocation, so that an invalid length from a file does not allocate memory.
      checkRange(offset, length, size);
      const target = new Uint8Array(length);
      await readInto(target, 0, offset, length, signal);
      return target;
    },
    readInto,
    close: async () => {},
  };
}

/** Returns the fingerprint of a slide. @param objects the objects of the slide, the main one first */
function fingerprintOfObjects(objects: readonly ObjectMetadata[]): string {
  return fingerprintOfVersions(objects.map(versionOfObject));
}

/** Returns the key up to and including its last slash; '' for a key without a slash. */
function folderOf(key: string): string {
  return key.slice(0, key.lastIndexOf('/') + 1);
}

/** Returns the name of an object directly in the folder; null for an object in a subfolder. */
function nameIn(folder: string, key: string): string | null {
  const name = key.slice(folder.length);
  return name.includes('/') ? null : name;
}

/** Resolves a name that comes from an untrusted file. @throws SlideError FILE_CORRUPT when it leads out of the folder */
function keyOfMember(folder: string, name: string): string {
  const normalized = posix.normalize(name);
  const isOutside =
    normalized === '.' || normalized === '..' || normalized.startsWith('../') || normalized.startsWith('/');
  if (isOutside || name === '' || name.includes('\0')) {
    throw new SlideError('FILE_CORRUPT', 'The slide refers to a file outside its own folder');
  }
  return folder + normalized;
}
