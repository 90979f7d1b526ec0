/** Root folders of slides, and the path from a catalogue entry to its file. */
import fs from 'node:fs/promises';
import path from 'node:path';
import type { Config } from '../platform/config.ts';
import type { SlideRoot } from '../store/schema.ts';

/** Location of a slide's file in the catalogue. It never comes from a request. */
export interface SlideFile {
  readonly root: SlideRoot;
  /** Relative to the root, with forward slashes; of a slide of several files, the leading file. */
  readonly path: string;
  /** Paths of the other files, relative to the folder of the leading one; a final slash marks a folder. */
  readonly members: readonly string[];
}

/** Roots that are folders of this machine. */
export type FolderRoot = Exclude<SlideRoot, 'bucket'>;

/** Returns the absolute path of each root folder. */
export function slideRoots(
  config: Pick<Config, 'slidesDir' | 'dataDir'>,
): Readonly<Record<FolderRoot, string>> {
  return {
    slides: config.slidesDir,
    demo: path.join(config.dataDir, 'demo'),
    uploads: path.join(config.dataDir, 'uploads', 'slides'),
  };
}

/**
 * Returns the path of a slide's file with all links resolved.
 *
 * @returns absolute path of a regular file inside its root; null when there is none. A link may point to another path
 *   inside the root, never outside.
 */
export async function locate(
  config: Pick<Config, 'slidesDir' | 'dataDir'>,
  file: { readonly root: FolderRoot; readonly path: string },
): Promise<string | null> {
  try {
    const root = await fs.realpath(slideRoots(config)[file.root]);
    const found = await fs.realpath(path.join(root, file.path));
    if (!found.startsWith(root + path.sep)) return null;
    return (await fs.stat(found)).isFile() ? found : null;
  } catch (error) {
    if (isMissingFile(error)) return null;
    throw error;
  }
}

/** Returns whether the error means that the file or a folder of its path is missing, is not a folder, or is not accessible. */
export function isMissingFile(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code !== undefined && ['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES', 'ENAMETOOLONG'].includes(code);
}
