/** The folders slides lie in, and the way from a catalogue entry to its file. */
import fs from 'node:fs/promises';
import path from 'node:path';
import type { Config } from '../config.ts';
import type { SlideRoot } from '../store/schema.ts';

/** Where a slide's file is, as the catalogue knows it. Never comes from a request. */
export interface SlideFile {
  readonly root: SlideRoot;
  /** Below the root, with forward slashes. Of a slide of several files, the leading one. */
  readonly path: string;
  /** The others, by their paths from its folder; one that ends with a slash is a folder. */
  readonly members: readonly string[];
}

/** Those that are folders of this machine. */
export type FolderRoot = Exclude<SlideRoot, 'bucket'>;

/** Absolute folder of each root that is one. */
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
 * The file itself, all links followed.
 *
 * @returns absolute path of a regular file that lies below its root; null when there is none. A link may
 *   point to another place below the root, never outside.
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
    if (isNotThere(error)) return null;
    throw error;
  }
}

/** Whether a file or a folder on the way to it is missing, is no folder, or may not be looked at. */
export function isNotThere(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code !== undefined && ['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES', 'ENAMETOOLONG'].includes(code);
}
