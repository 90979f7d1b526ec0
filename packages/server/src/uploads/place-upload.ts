/**
 * Puts what has come whole where slides lie, in one rename: whoever looks there finds all of it or nothing. Every step
 * may be the last one before the process ends, and is done again then.
 */
import fs from 'node:fs/promises';
import path from 'node:path';

interface Whole {
  /** Absolute: where the files of a folder are put together, gone afterwards. */
  readonly assembly: string;
  /** Absolute: where it is to lie. */
  readonly target: string;
  /** Absolute: everything between this and the target is made. */
  readonly root: string;
  readonly isFolder: boolean;
  /** Of a single file one. */
  readonly files: readonly {
    /** Absolute. */
    readonly part: string;
    /** Below the folder, checked. */
    readonly path: string;
  }[];
}

/** @returns false when something else lies there: it is left as it is, and so is what has come */
export async function placeUpload({ assembly, target, root, isFolder, files }: Whole): Promise<boolean> {
  const [single] = files;
  const source = isFolder ? assembly : single?.part;
  if (source === undefined) throw new Error('An upload without a file cannot be placed.');
  if (isFolder) {
    const folders = new Set<string>([assembly]);
    for (const file of files) {
      if (!(await isThere(file.part))) continue; // moved before the process ended the last time
      const place = path.join(assembly, file.path);
      folders.add(path.dirname(place));
      await fs.mkdir(path.dirname(place), { recursive: true });
      await fs.rename(file.part, place);
    }
    for (const folder of folders) if (await isThere(folder)) await syncFolder(folder);
  }
  if (!(await isThere(source))) return isThere(target); // placed before the process ended the last time
  if (await isThere(target)) return false;
  const parent = path.dirname(target);
  await fs.mkdir(parent, { recursive: true });
  await fs.rename(source, target);
  for (let folder = parent; folder.startsWith(root); folder = path.dirname(folder)) await syncFolder(folder);
  return true;
}

/** Whether something lies there, or a file where a folder on the way to it would have to be. */
export async function isThere(place: string): Promise<boolean> {
  try {
    await fs.lstat(place);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOTDIR') return true;
    if (code === 'ENOENT') return false;
    throw error;
  }
}

/** So that the new name outlives a power cut. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return; // cannot open folders
  const handle = await fs.open(folder);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
