/**
 * Controls which files OpenSlide can open. The library opens files by names stored in the slide, and may parse those names
 * differently from this package. So a check of the names would not protect other files. Therefore the server starts one process
 * per slide. There, the library gets a folder of links to the files of the slide, and the process can open no other files.
 */
import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { SlideError } from '../model/slide.ts';
import type { SlideFiles } from '../source/slide-files.ts';

/** How this process may use the library. */
export type LibraryAccess =
  /** The process is a tool or a test that reads trusted slides. */
  | { readonly kind: 'direct' }
  /** The process reads many slides and must not use the library; another process opens the slides that need it. */
  | { readonly kind: 'shared-process' }
  /** The process was started for one slide; the links to the files of the slide are created in `folder`. */
  | { readonly kind: 'own-process'; readonly folder: string };

/** Thrown when the slide must be opened in a separate render process. */
export class NeedsOwnProcess extends Error {}

/** Set once when the process starts. */
let access: LibraryAccess = { kind: 'direct' };

export function setLibraryAccess(newAccess: LibraryAccess): void {
  access = newAccess;
}

/** The path by which the library opens a slide. */
export interface LibraryPath {
  readonly path: string;
  /** Deletes the links; does nothing for access of the kind `direct`. */
  remove(): Promise<void>;
}

/**
 * Returns the path by which the library can open a slide. In a process of the slide's own, links its files first.
 *
 * @param names the other files that the library needs, as paths relative to the folder of the main file, by which the slide is
 *   opened. The main file itself is always linked
 * @throws NeedsOwnProcess; SlideError FORMAT_NOT_SUPPORTED for a slide in object storage, and errors of `SlideFiles.pathOf`
 */
export async function prepareForLibrary(files: SlideFiles, names: readonly string[]): Promise<LibraryPath> {
  const { path } = files; // null: the slide is in object storage, and the library opens only local files
  if (path === null)
    throw new SlideError('FORMAT_NOT_SUPPORTED', 'Not supported: OpenSlide with object storage');
  switch (access.kind) {
    case 'shared-process':
      throw new NeedsOwnProcess();
    case 'direct':
      return { path, remove: async () => {} };
    case 'own-process':
      return linkFiles(await mkdtemp(join(access.folder, 'links-')), files, names);
  }
}

async function linkFiles(folder: string, files: SlideFiles, names: readonly string[]): Promise<LibraryPath> {
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    for (const name of new Set([files.name, ...names])) {
      const checkedPath = await files.pathOf(name); // throws for a name that leads out of the slide, so `link` is in `folder`
      const link = join(folder, name);
      await mkdir(dirname(link), { recursive: true });
      await symlink(checkedPath, link);
    }
    return { path: join(folder, files.name), remove };
  } catch (error) {
    await remove();
    throw error;
  }
}
