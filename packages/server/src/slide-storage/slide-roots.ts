/** The folders in which slides are stored (roots), and the path of a slide's file in them. */
import fs from 'node:fs/promises';
import path from 'node:path';
import type { Config } from '../platform/config.ts';
import type { SlideRoot } from '../store/schema.ts';

/** Location of a slide's files, as the catalogue stores it. It never comes from a request. */
export interface SlideFile {
  readonly root: SlideRoot;
  /** Path of the file, or of the main file of several; relative to the root, with forward slashes. */
  readonly path: string;
  /** Paths of the other files, relative to the folder of the main one; a final slash marks a folder. */
  readonly members: readonly string[];
}

/** The roots that are folders on this machine. */
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
 * Returns the absolute path of a slide's file, with all links resolved; null unless it is a regular file inside its root.
 * A link to another path inside the root is followed.
 */
export async function locate(
  config: Pick<Config, 'slidesDir' | 'dataDir'>,
  file: { readonly root: FolderRoot; readonly path: string },
): Promise<string | null> {
  try {
    const root = await fs.realpath(slideRoots(config)[file.root]);
    const realPath = await fs.realpath(path.join(root, file.path));
    if (!realPath.startsWith(root + path.sep)) return null;
    return (await fs.stat(realPath)).isFile() ? realPath : null;
  } catch (error) {
    if (isMissingFile(error)) return null;
    throw error;
  }
}

/** Returns whether an error means that a file, or a folder in its path, is missing or not accessible. */
export function isMissingFile(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code !== undefined && ['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES', 'ENAMETOOLONG'].includes(code);
}
