/**
 * Moves complete uploads to the folder of uploaded slides with one rename, so that readers see either all files of an
 * upload or none. The process may end at any step; the next attempt continues with that step.
 */
import fs from 'node:fs/promises';
import path from 'node:path';
import type { CompleteUpload, UploadDestination } from './upload-destination.ts';

/** Creates the destination. @param root absolute path of the folder of uploaded slides */
export function createFolderDestination(root: string): UploadDestination {
  return {
    root: 'uploads',
    isTaken: (targetPath) => exists(path.join(root, targetPath)),
    store: (upload) => storeInFolder(root, upload),
  };
}

/** Moves an upload to its target path. @returns false when the path is taken */
async function storeInFolder(
  root: string,
  { assemblyFolder, targetPath, isFolder, files }: CompleteUpload,
): Promise<boolean> {
  const target = path.join(root, targetPath);
  const [firstFile] = files;
  const source = isFolder ? assemblyFolder : firstFile?.receivedFile;
  if (source === undefined) throw new Error('An upload without a file cannot be stored.');
  if (isFolder) {
    const folders = new Set<string>([assemblyFolder]);
    for (const file of files) {
      if (!(await exists(file.receivedFile))) continue; // an earlier attempt has moved it
      const assembled = path.join(assemblyFolder, file.path);
      folders.add(path.dirname(assembled));
      await fs.mkdir(path.dirname(assembled), { recursive: true });
      await fs.rename(file.receivedFile, assembled);
    }
    // The assembly folder no longer exists if an earlier attempt has moved it.
    for (const folder of folders) if (await exists(folder)) await syncFolder(folder);
  }
  if (!(await exists(source))) return exists(target); // true if an earlier attempt has moved the upload
  if (await exists(target)) return false;
  const parent = path.dirname(target);
  await fs.mkdir(parent, { recursive: true });
  await fs.rename(source, target);
  // Any folder from the parent of the target up to the parent of the root may be new or have a new entry, so all are flushed.
  const parentOfRoot = path.dirname(root);
  for (let folder = parent; folder.startsWith(parentOfRoot); folder = path.dirname(folder)) {
    await syncFolder(folder);
  }
  return true;
}

/** Returns whether a path exists. True also if one of its parents is a file, because the path is then taken as well. */
async function exists(location: string): Promise<boolean> {
  try {
    await fs.lstat(location);
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
  if (process.platform === 'win32') return; // Windows cannot open folders as files
  const handle = await fs.open(folder);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
