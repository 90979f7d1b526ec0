/**
 * Places complete uploads in the folder of uploaded slides with one rename, so that readers see all of an
 * upload or nothing. A process may end at any step; the next attempt continues there.
 */
import fs from 'node:fs/promises';
import path from 'node:path';
import type { CompleteUpload, UploadDestination } from './upload-destination.ts';

/** @param root absolute */
export function createFolderDestination(root: string): UploadDestination {
  return {
    root: 'uploads',
    isTaken: (place) => exists(path.join(root, place)),
    place: (upload) => placeInFolder(root, upload),
  };
}

async function placeInFolder(
  root: string,
  { assembly, place, isFolder, files }: CompleteUpload,
): Promise<boolean> {
  const target = path.join(root, place);
  const [single] = files;
  const source = isFolder ? assembly : single?.part;
  if (source === undefined) throw new Error('An upload without a file cannot be placed.');
  if (isFolder) {
    const folders = new Set<string>([assembly]);
    for (const file of files) {
      if (!(await exists(file.part))) continue; // an earlier process moved it
      const assembled = path.join(assembly, file.path);
      folders.add(path.dirname(assembled));
      await fs.mkdir(path.dirname(assembled), { recursive: true });
      await fs.rename(file.part, assembled);
    }
    for (const folder of folders) if (await exists(folder)) await syncFolder(folder);
  }
  if (!(await exists(source))) return exists(target); // an earlier process placed it
  if (await exists(target)) return false;
  const parent = path.dirname(target);
  await fs.mkdir(parent, { recursive: true });
  await fs.rename(source, target);
  const above = path.dirname(root); // the root may be new
  for (let folder = parent; folder.startsWith(above); folder = path.dirname(folder)) await syncFolder(folder);
  return true;
}

/** Returns whether the place is taken: it exists, or a file has the path of one of its folders. */
async function exists(place: string): Promise<boolean> {
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

/** Flushes a folder to the disk, so that a new name in it survives a power failure. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return; // cannot open folders
  const handle = await fs.open(folder);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
