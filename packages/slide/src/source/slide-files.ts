import { readdir, realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, relative, resolve, sep } from 'node:path';
import { SlideError } from '../slide.ts';
import type { ByteSource } from './byte-source.ts';
import { openFileSource } from './file-source.ts';

/** How a format reaches the bytes of a slide: its leading file, and the files beside it. */
export interface SlideFiles {
  /** Base name of the leading file. */
  readonly name: string;
  readonly leading: ByteSource;
  /** Names of the files beside the leading one, itself included, sorted. */
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

/** @throws SlideError FILE_MISSING, NOT_A_SLIDE */
export async function openSlideFiles(path: string): Promise<SlideFiles> {
  const opened: ByteSource[] = [await openFileSource(path)];
  const folder = dirname(resolve(path));
  return {
    name: basename(path),
    leading: opened[0] as ByteSource,
    async list() {
      const entries = await readdir(folder, { withFileTypes: true });
      return entries.flatMap((entry) => (entry.isFile() ? [entry.name] : [])).sort();
    },
    async open(name) {
      const source = await openFileSource(await insideFolder(folder, name));
      opened.push(source);
      return source;
    },
    async close() {
      await Promise.all(opened.splice(0).map((source) => source.close()));
    },
  };
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
