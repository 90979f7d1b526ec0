import { readdir, realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, relative, resolve, sep } from 'node:path';
import { SlideError, type SlideLocation } from '../slide.ts';
import type { ByteSource } from './byte-source.ts';
import { fingerprintOfFiles, openFileSource } from './file-source.ts';

/** How a format reaches the bytes of a slide: its leading file, and the files beside it. */
export interface SlideFiles {
  /** Base name of the leading file. */
  readonly name: string;
  /** Where the leading file is, for a library that opens files by itself; null when it is no file of this machine. */
  readonly path: string | null;
  /** They are objects of a store, which such a library cannot open. */
  readonly isObject?: true;
  readonly leading: ByteSource;
  /** Of the whole slide, as `fingerprintOf` (slide-place.ts) says it for its location. */
  readonly fingerprint: string;
  /**
   * Names of the files that may belong to the slide, the leading one included, sorted: those that its location
   * names, else all files of its folder.
   */
  list(): Promise<readonly string[]>;
  /**
   * Another file of the slide, by its path from the leading file's folder.
   *
   * @throws SlideError FILE_MISSING, FILE_CORRUPT when the name leads out of that folder
   */
  open(name: string): Promise<ByteSource>;
  /** Closes the leading file and every other that was opened. */
  close(): Promise<void>;
}

/** Of a slide in a folder of this machine. @throws SlideError FILE_MISSING, NOT_A_SLIDE */
export async function openLocalFiles(location: SlideLocation): Promise<SlideFiles> {
  const { path, members } = location;
  const leading = await openFileSource(path);
  const opened: ByteSource[] = [leading];
  const folder = dirname(resolve(path));
  const close = async () => {
    await Promise.all(opened.splice(0).map((source) => source.close()));
  };
  const fingerprint = await fingerprintOfOpen(location, leading).catch(async (error) => {
    await close();
    throw error;
  });
  return {
    name: basename(path),
    path,
    leading,
    fingerprint,
    async list() {
      if (members) return [basename(path), ...members].sort();
      const entries = await readdir(folder, { withFileTypes: true });
      return entries.flatMap((entry) => (entry.isFile() ? [entry.name] : [])).sort();
    },
    async open(name) {
      const source = await openFileSource(await insideFolder(folder, name));
      opened.push(source);
      return source;
    },
    close,
  };
}

/** Of the file that is open, not of one that may have taken its place; the members are looked at by name. */
async function fingerprintOfOpen(location: SlideLocation, leading: ByteSource): Promise<string> {
  if (!location.members?.length) return leading.fingerprint;
  const fingerprint = await fingerprintOfFiles(location);
  if ((await fingerprintOfFiles({ path: location.path })) === leading.fingerprint) return fingerprint;
  throw new SlideError('FILE_CHANGED', 'The file was replaced while it was opened');
}

/** A folder in which slides are looked for. */
export interface SlideFolder {
  /** Names of regular files in it, sorted. */
  readonly names: readonly string[];
  /** Names of folders in it. */
  readonly folders: readonly string[];
  /** One of them; the caller closes it. @throws SlideError FILE_MISSING, NOT_A_SLIDE */
  open(name: string): Promise<ByteSource>;
}

/** The files of one slide, by their paths from the folder, with forward slashes. */
export interface SlideGroup {
  /** The file that stands for the slide. */
  readonly leading: string;
  /** The others, sorted. One that ends with a slash is a folder, all of which belongs to the slide. */
  readonly members: readonly string[];
}

/** The name comes out of a file that anyone may have written, so neither it nor a link may lead elsewhere. */
async function insideFolder(folder: string, name: string): Promise<string> {
  const wanted = resolve(folder, name);
  if (name.includes('\0') || !isInside(folder, wanted)) throw leadsOut();
  const [realFolder, real] = await Promise.all([realpath(folder), realpath(wanted)]).catch((cause) => {
    throw new SlideError('FILE_MISSING', 'A file of this slide is missing', { cause });
  });
  if (!isInside(realFolder, real)) throw leadsOut();
  return real;
}

function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

function leadsOut(): SlideError {
  return new SlideError('FILE_CORRUPT', 'The slide names a file outside its own folder');
}
