/**
 * The files of a slide in a local folder: the main file, by which the slide is opened, and the members (its other
 * files). File names that are stored in a slide cannot lead to files outside the slide.
 */
import { readdir, realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { SlideError, type SlideLocation } from '../model/slide.ts';
import type { ByteSource } from './byte-source.ts';
import { filesBelow, fingerprintOfFiles, openFileSource } from './file-source.ts';

/** A file in a member folder of a slide. */
export interface FileInFolder {
  /** Path relative to the main file's folder, with forward slashes. */
  readonly path: string;
  /** Length in bytes. */
  readonly size: number;
}

/** Gives the reader of a file format access to the files of a slide: the main file and the other files. */
export interface SlideFiles {
  /** Base name of the main file. */
  readonly name: string;
  /** Path of the main file, for OpenSlide, which opens files itself; null when it is not a local file. */
  readonly path: string | null;
  /** True when the files are objects in object storage, which OpenSlide cannot open. */
  readonly isObject?: true;
  readonly main: ByteSource;
  /** Fingerprint of the whole slide, as `fingerprintOf` (open-slide-files.ts) computes it for the location of the slide. */
  readonly fingerprint: string;
  /**
   * Returns the sorted names of the files that may belong to the slide, including the main file. They are the members of the
   * location; without a list of members, they are all files of the folder.
   */
  list(): Promise<readonly string[]>;
  /**
   * Returns the regular files at any depth below a member folder, sorted by path.
   *
   * @param folder a member of the location whose name ends with a slash
   * @throws SlideError FILE_MISSING; FILE_CORRUPT when the folder is no member or a symbolic link leads out of the main file's
   *   folder; LIMIT_EXCEEDED for too many objects in object storage
   */
  listFolder(folder: string): Promise<readonly FileInFolder[]>;
  /**
   * Opens another file of the slide by its path relative to the main file's folder.
   *
   * @throws SlideError FILE_MISSING; FILE_CORRUPT when the name leads out of that folder, or the location has a list of
   *   members and this file is not among them
   */
  open(name: string): Promise<ByteSource>;
  /**
   * Returns the real path of a file of the slide, for OpenSlide, which opens files itself.
   *
   * @throws SlideError the errors of `open`, and FORMAT_NOT_SUPPORTED for an object
   */
  pathOf(name: string): Promise<string>;
  /** Closes the main file and all others that were opened. */
  close(): Promise<void>;
}

/** Opens a slide in a local folder. @throws SlideError FILE_MISSING, NOT_A_SLIDE; FILE_CHANGED for a replaced file */
export async function openLocalFiles(location: SlideLocation): Promise<SlideFiles> {
  const { path, members } = location;
  const main = await openFileSource(path);
  const opened: ByteSource[] = [main];
  const folder = dirname(resolve(path));
  const close = async () => {
    await Promise.all(opened.splice(0).map((source) => source.close())); // empties the list: each is closed once
  };
  const fingerprint = await fingerprintOfOpen(location, main).catch(async (error) => {
    await close();
    throw error;
  });
  return {
    name: basename(path),
    path,
    main,
    fingerprint,
    async list() {
      if (members) return [basename(path), ...members].sort();
      const entries = await readdir(folder, { withFileTypes: true });
      return entries.flatMap((entry) => (entry.isFile() ? [entry.name] : [])).sort();
    },
    listFolder: (name) => listMemberFolder(folder, name, members),
    async open(name) {
      const source = await openFileSource(await resolveInSlide(folder, name, members));
      opened.push(source);
      return source;
    },
    // The list of members does not contain the main file, so `resolveInSlide` would reject it.
    pathOf: (name) => (name === basename(path) ? realPathOf(path) : resolveInSlide(folder, name, members)),
    close,
  };
}

/**
 * Returns the fingerprint of the slide. With members, it is computed from the files that are at the paths now. Therefore the
 * function checks that the file at the main file's path is still the open one.
 *
 * @throws SlideError FILE_CHANGED when the main file was replaced
 */
async function fingerprintOfOpen(location: SlideLocation, main: ByteSource): Promise<string> {
  if (!location.members?.length) return main.fingerprint;
  const fingerprint = await fingerprintOfFiles(location);
  if ((await fingerprintOfFiles({ path: location.path })) === main.fingerprint) return fingerprint;
  throw new SlideError('FILE_CHANGED', 'The file was replaced while it was opened');
}

/** A folder that is scanned for slides. */
export interface SlideFolder {
  /** Names of regular files in it, sorted. */
  readonly names: readonly string[];
  /** Names of folders in it. */
  readonly folders: readonly string[];
  /** Opens one of the files; the caller closes it. @throws SlideError FILE_MISSING, NOT_A_SLIDE */
  open(name: string): Promise<ByteSource>;
}

/** The files of one slide, as paths relative to the folder, with forward slashes. */
export interface SlideGroup {
  /** The main file, by which the slide is opened. */
  readonly main: string;
  /** The other files, sorted. A path with a trailing slash is a folder that belongs to the slide as a whole. */
  readonly members: readonly string[];
}

/**
 * Returns the real path of a file of the slide. The name comes from an untrusted file, so neither the name nor a symbolic
 * link may lead out of the slide.
 *
 * @throws SlideError FILE_CORRUPT, FILE_MISSING
 */
async function resolveInSlide(folder: string, name: string, members?: readonly string[]): Promise<string> {
  const target = resolve(folder, name);
  if (name.includes('\0') || !isInside(folder, target)) throw outsideFolderError();
  const relativePath = relative(folder, target);
  if (members && !isMember(relativePath.split(sep).join('/'), members)) throw notAMemberError();
  const [realFolder, realTarget] = await Promise.all([realPathOf(folder), realPathOf(target)]);
  if (!isInside(realFolder, realTarget)) throw outsideFolderError();
  const hasSymbolicLink = realTarget !== join(realFolder, relativePath);
  if (!members || !hasSymbolicLink) return realTarget;
  // A symbolic link may lead to another file of the same slide, but not to another slide of the folder.
  if (!(await isInRealMember(folder, realTarget, members))) throw notAMemberError();
  return realTarget;
}

/** Implements `SlideFiles.listFolder`. @param folder folder of the main file */
async function listMemberFolder(
  folder: string,
  name: string,
  members: readonly string[] = [],
): Promise<readonly FileInFolder[]> {
  if (!name.endsWith('/') || !members.includes(name)) throw notAMemberError();
  const [realFolder, realMember] = await Promise.all([realPathOf(folder), realPathOf(join(folder, name))]);
  if (!isInside(realFolder, realMember)) throw outsideFolderError();
  const found = await filesBelow(realMember);
  return found.map(({ path, size }) => ({
    path: name + relative(realMember, path).split(sep).join('/'),
    size,
  }));
}

/** Whether a real path is the real path of a member, or lies in a member folder. */
async function isInRealMember(
  folder: string,
  realTarget: string,
  members: readonly string[],
): Promise<boolean> {
  for (const member of members) {
    const realMember = await realPathOf(join(folder, member));
    if (realMember === realTarget || (member.endsWith('/') && isInside(realMember, realTarget))) return true;
  }
  return false;
}

/** Returns the path with all symbolic links resolved. @throws SlideError FILE_MISSING */
async function realPathOf(path: string): Promise<string> {
  return realpath(path).catch((cause: unknown) => {
    throw new SlideError('FILE_MISSING', 'A file of this slide is missing', { cause });
  });
}

/**
 * Whether a file is among the members that a location names.
 *
 * @param name path relative to the main file's folder, with forward slashes and without dot segments
 */
export function isMember(name: string, members: readonly string[]): boolean {
  return members.some((member) => (member.endsWith('/') ? name.startsWith(member) : name === member));
}

/** Returns the error for a file to which the slide refers although it is not among the slide's members. */
export function notAMemberError(): SlideError {
  return new SlideError(
    'FILE_CORRUPT',
    'The slide is not complete, or it refers to a file that does not belong to it',
  );
}

/** Whether a path lies below a folder; false for the folder itself. */
function isInside(folder: string, path: string): boolean {
  const relativePath = relative(folder, path);
  return (
    relativePath !== '' &&
    relativePath !== '..' &&
    !relativePath.startsWith(`..${sep}`) &&
    !isAbsolute(relativePath)
  );
}

function outsideFolderError(): SlideError {
  return new SlideError('FILE_CORRUPT', 'The slide refers to a file outside its own folder');
}
