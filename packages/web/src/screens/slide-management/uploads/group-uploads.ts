/**
 * The rules that group the files that a user has chosen into uploads. The server accepts each upload completely or not at all, so a
 * slide and its companions (the other files and folders of the slide) must be in the same upload.
 */
import { checkUploadPath, maxFilesOfUpload, type NameFault } from '@lamina/contract';
import {
  companionFolderOf,
  hasSlideName,
  listsItsCompanions,
  mayBeDicom,
  usuallyHasCompanions,
} from '@lamina/slide/names';
import type { ChosenFile } from './chosen-files.ts';

/** The files of one upload. */
export interface FileGroup {
  /** Path of the file or folder that the upload creates, relative to the dataset. */
  readonly path: string;
  readonly isFolder: boolean;
  /** The path of each file is relative to the folder of the upload. The path of a single file is its name. */
  readonly files: readonly ChosenFile[];
  readonly sizeBytes: number;
}

/**
 * Why a file or folder cannot be uploaded: its name is invalid (`NameFault`), its name is not that of a slide file (`noSlide`), it is
 * empty (`nothing`), the companion folder of the slide was not chosen (`needsFolder`), or the folder has too many files (`tooMany`).
 */
export type RejectionReason = NameFault | 'noSlide' | 'nothing' | 'needsFolder' | 'tooMany';

export interface RejectedFile {
  /** Path of the file as the user has chosen it. */
  readonly path: string;
  readonly reason: RejectionReason;
}

export interface Grouping {
  readonly groups: readonly FileGroup[];
  readonly rejected: readonly RejectedFile[];
}

/** Matches hidden files, and files and folders that macOS and Windows create by themselves, such as `S/.DS_Store` and `Thumbs.db`. */
const systemFilePattern = /(^|\/)(\.[^/]*|__MACOSX|Thumbs\.db|desktop\.ini)(\/|$)/i;

/**
 * Groups files into uploads, rejects those that cannot be uploaded, and ignores files that operating systems create. The rules:
 *
 * - A slide outside folders whose format has a companion folder is one upload with that folder (`name.mrxs` with `name`, `name.vsi` with
 *   `_name_`).
 * - If one of the remaining files outside folders is a VMS file (Hamamatsu), which lists its companions, all of them are one upload.
 * - Otherwise, several DICOM files among them are one upload, and each other file is an upload of its own.
 * - Any other folder is one upload if the name of one of its files is that of a format that usually has companions. If not, each of its
 *   files is an upload of its own.
 */
export function groupFiles(chosen: readonly ChosenFile[]): Grouping {
  const groups: FileGroup[] = [];
  const rejected: RejectedFile[] = [];
  const acceptedFiles: ChosenFile[] = [];
  for (const { path, file } of chosen) {
    if (systemFilePattern.test(path)) continue;
    const checkedPath = checkUploadPath(path);
    if ('fault' in checkedPath) rejected.push({ path, reason: checkedPath.fault });
    else acceptedFiles.push({ path: checkedPath.names.join('/'), file });
  }

  const filesWithoutFolder = acceptedFiles.filter(({ path }) => !path.includes('/'));
  const filesByFolder = Map.groupBy(
    acceptedFiles.filter(({ path }) => path.includes('/')),
    ({ path }) => path.slice(0, path.indexOf('/')), // the first segment of the path
  );

  const addFolderUpload = (path: string, files: readonly ChosenFile[]) => {
    if (files.length > maxFilesOfUpload) rejected.push({ path, reason: 'tooMany' });
    else groups.push({ path, isFolder: true, files, sizeBytes: bytesOf(files) });
  };
  const addFileUpload = ({ path, file }: ChosenFile) => {
    const name = nameOf(path);
    if (!hasSlideName(name) && !mayBeDicom(name)) rejected.push({ path, reason: 'noSlide' });
    else if (file.size === 0) rejected.push({ path, reason: 'nothing' });
    else groups.push({ path, isFolder: false, files: [{ path: name, file }], sizeBytes: file.size });
  };

  const filesWithoutCompanionFolder: ChosenFile[] = [];
  for (const slideFile of filesWithoutFolder) {
    const companionFolder = companionFolderOf(slideFile.path);
    if (companionFolder === null) {
      filesWithoutCompanionFolder.push(slideFile);
      continue;
    }
    // `companionFolderOf` returns a lower-case name.
    const [folder, files] = [...filesByFolder].find(([name]) => name.toLowerCase() === companionFolder) ?? [];
    if (folder === undefined || files === undefined) {
      rejected.push({ path: slideFile.path, reason: 'needsFolder' });
      continue;
    }
    filesByFolder.delete(folder);
    addFolderUpload(stemOf(slideFile.path), [slideFile, ...files]);
  }

  /** A VMS file, if there is one. */
  const listingFile = filesWithoutCompanionFolder.find(({ path }) => listsItsCompanions(path));
  if (listingFile !== undefined) addFolderUpload(stemOf(listingFile.path), filesWithoutCompanionFolder);
  else {
    const dicomFiles = filesWithoutCompanionFolder.filter(({ path }) => mayBeDicom(path));
    const [firstDicom] = dicomFiles;
    const hasSeveralDicomFiles = firstDicom !== undefined && dicomFiles.length > 1;
    if (hasSeveralDicomFiles) addFolderUpload(stemOf(firstDicom.path), dicomFiles);
    for (const chosenFile of filesWithoutCompanionFolder) {
      if (!hasSeveralDicomFiles || !mayBeDicom(chosenFile.path)) addFileUpload(chosenFile);
    }
  }

  for (const [folder, files] of filesByFolder) {
    if (files.some(({ path }) => usuallyHasCompanions(nameOf(path)))) {
      addFolderUpload(
        folder,
        // The folder is the path of the upload, so the paths of its files are relative to the folder.
        files.map(({ path, file }) => ({ path: path.slice(`${folder}/`.length), file })),
      );
    } else for (const chosenFile of files) addFileUpload(chosenFile);
  }
  return { groups, rejected };
}

/** Returns the last segment of a path. */
function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function bytesOf(files: readonly ChosenFile[]): number {
  return files.reduce((sum, { file }) => sum + file.size, 0);
}

/** Returns the name without its extension. A name such as '.a' has no extension. */
function stemOf(name: string): string {
  return name.replace(/(?<=.)\.[^.]*$/, '');
}
