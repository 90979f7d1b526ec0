/** A slide in an object store: its leading object, and those whose keys begin as if they lay in the same folder. */
import { posix } from 'node:path';
import { SlideError, type SlideLocation } from '../slide.ts';
import { type ByteSource, checkRange } from './byte-source.ts';
import { fingerprintOfVersions, versionOfObject } from './fingerprint.ts';
import type { ObjectReader } from './object-reader.ts';
import type { ObjectFacts, StoredObject } from './object-store.ts';
import type { SlideFiles } from './slide-files.ts';

/** @throws SlideError FILE_MISSING, and what the store throws */
export async function openObjectSource(key: string, objects: ObjectReader): Promise<ByteSource> {
  return objectSource({ key, ...(await objects.head(key)) }, objects);
}

/** @throws SlideError FILE_MISSING, FILE_CHANGED, and what the store throws */
export async function openObjectFiles(location: SlideLocation, objects: ObjectReader): Promise<SlideFiles> {
  const { path: key, members } = location;
  const object = { key, ...(await objects.head(key)) };
  const leading = objectSource(object, objects);
  const name = posix.basename(key);
  const folder = folderOf(key);
  return {
    name,
    path: null,
    isObject: true,
    leading,
    fingerprint: members?.length
      ? fingerprintOfObjects([object, ...(await membersOf(location, objects))])
      : leading.fingerprint,
    async list() {
      if (members) return [name, ...members].sort();
      const beside = await objects.list(folder);
      return beside.flatMap((each) => nameIn(folder, each.key) ?? []).sort();
    },
    open: async (wanted) => openObjectSource(keyInside(folder, wanted), objects),
    close: async () => {},
  };
}

/** Of the objects as they are now, without opening them. @throws SlideError FILE_MISSING, also when a member is */
export async function fingerprintOfLocation(location: SlideLocation, objects: ObjectReader): Promise<string> {
  const [leading, members] = await Promise.all([objects.head(location.path), membersOf(location, objects)]);
  return fingerprintOfObjects([leading, ...members]);
}

/** In the order of their names; of a folder, all that lies below it. */
async function membersOf(
  { path, members = [] }: SlideLocation,
  objects: ObjectReader,
): Promise<readonly ObjectFacts[]> {
  const folder = folderOf(path);
  const facts = await Promise.all(
    members.map((member) =>
      member.endsWith('/') ? objects.list(folder + member) : objects.head(folder + member),
    ),
  );
  return facts.flat();
}

function objectSource(object: StoredObject, objects: ObjectReader): ByteSource {
  const { size } = object;
  const readInto: ByteSource['readInto'] = async (target, at, offset, length, signal) => {
    signal?.throwIfAborted();
    checkRange(offset, length, size);
    await objects.readInto(object, target, at, offset, length, signal);
  };
  return {
    size,
    fingerprint: fingerprintOfObjects([object]),
    async read(offset, length, signal) {
      checkRange(offset, length, size); // before the allocation
      const target = new Uint8Array(length);
      await readInto(target, 0, offset, length, signal);
      return target;
    },
    readInto,
    close: async () => {},
  };
}

/** @param objects of one slide, the leading one first */
function fingerprintOfObjects(objects: readonly ObjectFacts[]): string {
  return fingerprintOfVersions(objects.map(versionOfObject));
}

/** Ends with a slash; '' for a key without one. */
function folderOf(key: string): string {
  return key.slice(0, key.lastIndexOf('/') + 1);
}

/** Of an object that lies in the folder itself; null for one further down. */
function nameIn(folder: string, key: string): string | null {
  const name = key.slice(folder.length);
  return name.includes('/') ? null : name;
}

/** The name comes out of a file that anyone may have written. */
function keyInside(folder: string, name: string): string {
  const inside = posix.normalize(name);
  const leadsOut = inside === '.' || inside === '..' || inside.startsWith('../') || inside.startsWith('/');
  if (leadsOut || name === '' || name.includes('\0')) {
    throw new SlideError('FILE_CORRUPT', 'The slide names a file outside its own folder');
  }
  return folder + inside;
}
