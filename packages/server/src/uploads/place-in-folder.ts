/**
 * Puts what has come whole into the folder where uploaded slides lie, in one rename: whoever looks there finds all of it
 * or nothing. Every step may be the last one before the process ends, and is done again then.
 */
import fs from 'node:fs/promises';
import path from 'node:path';
import type { UploadDestination, WholeUpload } from './upload-destination.ts';

/** @param root absolute */
export function createFolderDestination(root: string): UploadDestination {
  return {
    root: 'uploads',
    isTaken: (place) => isThere(path.join(root, place)),
    place: (whole) => placeInFolder(root, whole),
  };
}

async function placeInFolder(
  root: string,
  { assembly, place, isFolder, files }: WholeUpload,
): Promise<boolean> {
  const target = path.join(root, place);
  const [single] = files;
  const source = isFolder ? assembly : single?.part;
  if (source === undefined) throw new Error('An upload without a file cannot be placed.');
  if (isFolder) {
    const folders = new Set<string>([assembly]);
    for (const file of files) {
      if (!(await isThere(file.part))) continue; // moved before the process ended the last time
      const assembled = path.join(assembly, file.path);
      folders.add(path.dirname(assembled));
      await fs.mkdir(path.dirname(assembled), { recursive: true });
      await fs.rename(file.part, assembled);
    }
    for (const folder of folders) if (await isThere(folder)) await syncFolder(folder);
  }
  if (!(await isThere(source))) return isThere(target); // placed before the process ended the last time
  if (await isThere(target)) return false;
  const parent = path.dirname(target);
  await fs.mkdir(parent, { recursive: true });
  await fs.rename(source, target);
  const above = path.dirname(root); // the root may have been made just now
  for (let folder = parent; folder.startsWith(above); folder = path.dirname(folder)) await syncFolder(folder);
  return true;
}

/** Whether something lies there, or a file where a folder on the way to it would have to be. */
async function isThere(place: string): Promise<boolean> {
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
