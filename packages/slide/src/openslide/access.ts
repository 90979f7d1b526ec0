/**
 * Controls which files OpenSlide can open. The library opens files by names stored in the slide and parses them
 * differently than this package, so a check of the description alone is no protection: in render processes the library
 * gets a folder with links to the checked files, in a process that can open nothing else.
 */
import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { SlideError } from '../model/slide.ts';
import type { SlideFiles } from '../source/slide-files.ts';

export type LibraryAccess =
  /** The process is a tool or a test that reads one trusted slide. */
  | { readonly kind: 'direct' }
  /** The process reads many slides and must not use the library. */
  | { readonly kind: 'elsewhere' }
  /** The process was started for one slide. */
  | { readonly kind: 'private'; readonly folder: string };

/** Thrown when the slide must be opened in a render process of its own. */
export class NeedsOwnProcess extends Error {}

/** Set once when the process starts. */
let access: LibraryAccess = { kind: 'direct' };

export function setLibraryAccess(newAccess: LibraryAccess): void {
  access = newAccess;
}

/** The path by which the library opens a slide. */
export interface LibraryPlace {
  readonly path: string;
  remove(): Promise<void>;
}

/**
 * Prepares a slide for the library.
 *
 * @param names of all files that the library needs, including the leading one, relative to the leading file's folder
 * @throws NeedsOwnProcess, and errors of `SlideFiles.pathOf`
 */
export async function placeForLibrary(files: SlideFiles, names: readonly string[]): Promise<LibraryPlace> {
  const { path } = files;
  if (path === null)
    throw new SlideError('FORMAT_NOT_SUPPORTED', 'Not supported: such a slide in object storage');
  switch (access.kind) {
    case 'elsewhere':
      throw new NeedsOwnProcess();
    case 'direct':
      return { path, remove: async () => {} };
    case 'private':
      return linkFiles(await mkdtemp(join(access.folder, 'links-')), files, names);
  }
}

async function linkFiles(folder: string, files: SlideFiles, names: readonly string[]): Promise<LibraryPlace> {
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    for (const name of new Set([files.name, ...names])) {
      const link = join(folder, name);
      await mkdir(dirname(link), { recursive: true });
      await symlink(await files.pathOf(name), link);
    }
    return { path: join(folder, files.name), remove };
  } catch (error) {
    await remove();
    throw error;
  }
}
