/** Groups the files that a person chose: each group is one upload, which the server accepts completely or not at all. */
import { checkUploadPath, maxFilesOfUpload, type NameFault } from '@lamina/contract';
import {
  companionFolderOf,
  hasSlideName,
  listsItsCompanions,
  mayBeDicom,
  usuallyHasCompanions,
} from '@lamina/slide/names';
import type { ChosenFile } from './chosen-files.ts';

export interface FileGroup {
  /** Below the dataset: of the file, or of the folder. */
  readonly path: string;
  readonly isFolder: boolean;
  /** Paths below the folder; of a single file its name. */
  readonly files: readonly ChosenFile[];
  readonly sizeBytes: number;
}

export type Refusal = NameFault | 'noSlide' | 'nothing' | 'needsFolder' | 'tooMany';

export interface RefusedFile {
  /** As it was chosen. */
  readonly path: string;
  readonly reason: Refusal;
}

export interface Grouping {
  readonly groups: readonly FileGroup[];
  readonly refused: readonly RefusedFile[];
}

/** Files and folders that operating systems create by themselves. */
const leftovers = /(^|\/)(\.[^/]*|__MACOSX|Thumbs\.db|desktop\.ini)(\/|$)/i;

/**
 * - A slide of a single file is an upload of its own, also in a folder of such slides.
 * - A slide with a companion folder is one upload with that folder (`name.mrxs` with `name`, `name.vsi` with `_name_`).
 * - DICOM files chosen together are one upload; so are all loose files beside a VMS file.
 * - Any other folder is one upload.
 */
export function groupFiles(chosen: readonly ChosenFile[]): Grouping {
  const groups: FileGroup[] = [];
  const refused: RefusedFile[] = [];
  const kept: ChosenFile[] = [];
  for (const { path, file } of chosen) {
    if (leftovers.test(path)) continue;
    const checked = checkUploadPath(path);
    if ('fault' in checked) refused.push({ path, reason: checked.fault });
    else kept.push({ path: checked.names.join('/'), file });
  }

  const loose = kept.filter(({ path }) => !path.includes('/'));
  const folders = Map.groupBy(
    kept.filter(({ path }) => path.includes('/')),
    ({ path }) => path.slice(0, path.indexOf('/')),
  );

  const together = (path: string, files: readonly ChosenFile[]) => {
    if (files.length > maxFilesOfUpload) refused.push({ path, reason: 'tooMany' });
    else groups.push({ path, isFolder: true, files, sizeBytes: bytesOf(files) });
  };
  const alone = ({ path, file }: ChosenFile) => {
    const name = path.slice(path.lastIndexOf('/') + 1);
    if (!hasSlideName(name) && !mayBeDicom(name)) refused.push({ path, reason: 'noSlide' });
    else if (file.size === 0) refused.push({ path, reason: 'nothing' });
    else groups.push({ path, isFolder: false, files: [{ path: name, file }], sizeBytes: file.size });
  };

  const rest: ChosenFile[] = [];
  for (const leading of loose) {
    const folderName = companionFolderOf(leading.path);
    if (folderName === null) {
      rest.push(leading);
      continue;
    }
    const [name, files] = [...folders].find(([each]) => each.toLowerCase() === folderName) ?? [];
    if (name === undefined || files === undefined) {
      refused.push({ path: leading.path, reason: 'needsFolder' });
      continue;
    }
    folders.delete(name);
    together(stemOf(leading.path), [leading, ...files]);
  }

  const listing = rest.find(({ path }) => listsItsCompanions(path));
  if (listing !== undefined) together(stemOf(listing.path), rest);
  else {
    const dicom = rest.filter(({ path }) => mayBeDicom(path));
    const [first] = dicom;
    if (first !== undefined && dicom.length > 1) together(stemOf(first.path), dicom);
    for (const each of rest) if (dicom.length < 2 || !mayBeDicom(each.path)) alone(each);
  }

  for (const [name, files] of folders) {
    const isOneByOne = !files.some(({ path }) => usuallyHasCompanions(path.slice(path.lastIndexOf('/') + 1)));
    if (!isOneByOne) {
      together(
        name,
        files.map(({ path, file }) => ({ path: path.slice(name.length + 1), file })),
      );
    } else for (const each of files) alone(each);
  }
  return { groups, refused };
}

function bytesOf(files: readonly ChosenFile[]): number {
  return files.reduce((sum, { file }) => sum + file.size, 0);
}

function stemOf(name: string): string {
  return name.replace(/(?<=.)\.[^.]*$/, '');
}
