/**
 * Divides the files that a user chose into uploads. The server accepts each upload completely or not at all, so a slide
 * and its companions (the other files and folders that belong to it) have to be in the same upload.
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
  /** Path of the file or folder below the dataset. */
  readonly path: string;
  readonly isFolder: boolean;
  /** The path of each file is relative to the folder of the upload; the path of a single file is its name. */
  readonly files: readonly ChosenFile[];
  readonly sizeBytes: number;
}

/**
 * Why a file or folder cannot be uploaded: its name is invalid (`NameFault`), it has no name of a slide file (`noSlide`), it is empty
 * (`nothing`), the companion folder of the slide was not chosen (`needsFolder`), or the folder has too many files (`tooMany`).
 */
export type Refusal = NameFault | 'noSlide' | 'nothing' | 'needsFolder' | 'tooMany';

export interface RefusedFile {
  /** Path with which the user chose the file. */
  readonly path: string;
  readonly reason: Refusal;
}

export interface Grouping {
  readonly groups: readonly FileGroup[];
  readonly refused: readonly RefusedFile[];
}

/** Matches hidden files, and files and folders that macOS and Windows create by themselves. */
const systemFilePattern = /(^|\/)(\.[^/]*|__MACOSX|Thumbs\.db|desktop\.ini)(\/|$)/i;

/**
 * Returns the uploads and the files that cannot be uploaded. System files are ignored. The rules:
 *
 * - A slide of a single file is one upload, also inside a folder of such slides.
 * - A slide with a companion folder is one upload with that folder (`name.mrxs` with `name`, `name.vsi` with `_name_`).
 * - Several DICOM files that were not chosen in a folder are one upload.
 * - A VMS file lists its companions: all files that were not chosen in a folder are one upload with it.
 * - Any other folder is one upload if one of its files usually has companions; otherwise each file in it is one upload.
 */
export function groupFiles(chosen: readonly ChosenFile[]): Grouping {
  const groups: FileGroup[] = [];
  const refused: RefusedFile[] = [];
  const acceptedFiles: ChosenFile[] = [];
  for (const { path, file } of chosen) {
    if (systemFilePattern.test(path)) continue;
    const checked = checkUploadPath(path);
    if ('fault' in checked) refused.push({ path, reason: checked.fault });
    else acceptedFiles.push({ path: checked.names.join('/'), file });
  }

  const filesWithoutFolder = acceptedFiles.filter(({ path }) => !path.includes('/'));
  const filesByFolder = Map.groupBy(
    acceptedFiles.filter(({ path }) => path.includes('/')),
    ({ path }) => path.slice(0, path.indexOf('/')),
  );

  const addFolder = (path: string, files: readonly ChosenFile[]) => {
    if (files.length > maxFilesOfUpload) refused.push({ path, reason: 'tooMany' });
    else groups.push({ path, isFolder: true, files, sizeBytes: bytesOf(files) });
  };
  const addSingleFile = ({ path, file }: ChosenFile) => {
    const name = nameOf(path);
    if (!hasSlideName(name) && !mayBeDicom(name)) refused.push({ path, reason: 'noSlide' });
    else if (file.size === 0) refused.push({ path, reason: 'nothing' });
    else groups.push({ path, isFolder: false, files: [{ path: name, file }], sizeBytes: file.size });
  };

  const filesWithoutCompanionFolder: ChosenFile[] = [];
  for (const slideFile of filesWithoutFolder) {
    const companionFolder = companionFolderOf(slideFile.path);
    if (companionFolder === null) {
      filesWithoutCompanionFolder.push(slideFile);
      continue;
    }
    // `companionFolderOf` returns the name in lower case.
    const [folder, files] = [...filesByFolder].find(([name]) => name.toLowerCase() === companionFolder) ?? [];
    if (folder === undefined || files === undefined) {
      refused.push({ path: slideFile.path, reason: 'needsFolder' });
      continue;
    }
    filesByFolder.delete(folder);
    addFolder(stemOf(slideFile.path), [slideFile, ...files]);
  }

  const listingFile = filesWithoutCompanionFolder.find(({ path }) => listsItsCompanions(path));
  if (listingFile !== undefined) addFolder(stemOf(listingFile.path), filesWithoutCompanionFolder);
  else {
    const dicomFiles = filesWithoutCompanionFolder.filter(({ path }) => mayBeDicom(path));
    const [firstDicom] = dicomFiles;
    const isDicomFolder = firstDicom !== undefined && dicomFiles.length > 1;
    if (isDicomFolder) addFolder(stemOf(firstDicom.path), dicomFiles);
    for (const chosenFile of filesWithoutCompanionFolder) {
      if (!isDicomFolder || !mayBeDicom(chosenFile.path)) addSingleFile(chosenFile);
    }
  }

  for (const [folder, files] of filesByFolder) {
    if (files.some(({ path }) => usuallyHasCompanions(nameOf(path)))) {
      addFolder(
        folder,
        // The paths begin with the folder, which is the path of the upload.
        files.map(({ path, file }) => ({ path: path.slice(`${folder}/`.length), file })),
      );
    } else for (const chosenFile of files) addSingleFile(chosenFile);
  }
  return { groups, refused };
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function bytesOf(files: readonly ChosenFile[]): number {
  return files.reduce((sum, { file }) => sum + file.size, 0);
}

/** Returns the name without its extension. */
function stemOf(name: string): string {
  return name.replace(/(?<=.)\.[^.]*$/, '');
}
