/**
 * Groups the files of a folder into slides when only their content shows which files belong together, as in a DICOM
 * series or a Hamamatsu VMS slide. A group has a main file, by which the slide is opened, and members, which are its
 * other files. The groups are cached until a file of the folder changes, so that further scans read no content.
 */
import { createHash } from 'node:crypto';
import { dicomSignature, hasSlideName, mayBeDicomByContent } from '@lamina/slide/names';
import type { FolderTree, SlideGroup } from '../slide-storage/folder-tree.ts';

/** A regular file that a scan has seen in the folder. */
export interface SeenFile {
  readonly name: string;
  /** Path below the slide root, with all links resolved. */
  readonly resolvedPath: string;
  /** Size in bytes. */
  readonly size: number;
  /** Changes whenever the file changes. */
  readonly version: string;
}

/** Returns the slides among the files, including those of a single file; null when they cannot be grouped now. */
export type GroupFiles = (
  tree: FolderTree,
  folder: string,
  files: readonly SeenFile[],
) => Promise<readonly SlideGroup[] | null>;

/** Maximum number of folders whose groups are cached; when it is reached, the cache is emptied. */
const maxCachedFolders = 10_000;
/**
 * Number of failed attempts to group the files of a folder after which each file counts as a slide of its own, so that the intact files
 * can be shown. An attempt may also fail because the machine is busy.
 */
const maxFailedAttempts = 3;

interface CachedGroups {
  readonly signature: string;
  /** Null while the files are not grouped yet because all attempts have failed. */
  readonly slides: readonly SlideGroup[] | null;
  readonly failedAttempts: number;
}

/** Returns a function that groups the files of folders and caches the groups. */
export function createGroupFiles(): GroupFiles {
  const cachedGroups = new Map<string, CachedGroups>();
  return async (tree, folder, files) => {
    const signature = signatureOf(files);
    const cached = cachedGroups.get(folder);
    const previous = cached?.signature === signature ? cached : null;
    if (previous !== null && previous.slides !== null) return previous.slides;
    const names = await slideNamesAmong(tree, files);
    const groups = names.length > 1 ? await tree.group(folder, names) : [];
    if (groups === null) return null;
    const hasFailed = groups === 'failed';
    const failedAttempts = (previous?.failedAttempts ?? 0) + (hasFailed ? 1 : 0);
    const willRetry = hasFailed && failedAttempts < maxFailedAttempts;
    const slides = willRetry ? null : withSingleFiles(hasFailed ? [] : groups, names);
    if (cachedGroups.size >= maxCachedFolders) cachedGroups.clear();
    cachedGroups.set(folder, { signature, slides, failedAttempts });
    return slides;
  };
}

/** Returns a hash that changes when a file is added, removed, renamed or changed. */
export function signatureOf(files: readonly SeenFile[]): string {
  const namesAndVersions = files.map(({ name, version }) => [name, version]);
  return createHash('sha256').update(JSON.stringify(namesAndVersions)).digest('base64url');
}

/** Returns the names of the files that may be slides, or parts of slides. */
async function slideNamesAmong(tree: FolderTree, files: readonly SeenFile[]): Promise<string[]> {
  const names: string[] = [];
  for (const { name, resolvedPath } of files) {
    // Only the content shows whether a file is DICOM whose name has no extension, or only digits and dots (`mayBeDicomByContent`).
    const mayBeSlide = !mayBeDicomByContent(name) || (await isDicomByContent(tree, resolvedPath));
    if (mayBeSlide) names.push(name);
  }
  return names;
}

/** Returns the groups, and a slide for each further file that is one by its name or contains DICOM. */
function withSingleFiles(groups: readonly SlideGroup[], names: readonly string[]): readonly SlideGroup[] {
  const groupedNames = new Set(groups.flatMap(({ main, members }) => [main, ...members]));
  const singleFiles = names.filter(
    (name) => !groupedNames.has(name) && (hasSlideName(name) || mayBeDicomByContent(name)),
  );
  return [...groups, ...singleFiles.map((main) => ({ main, members: [] }))];
}

/** Returns whether a file has the DICOM signature, `DICM` after a preamble of 128 bytes (DICOM PS3.10, section 7.1). */
export async function isDicomByContent(tree: FolderTree, resolvedPath: string): Promise<boolean> {
  const bytes = await tree.read(resolvedPath, dicomSignature.offset, dicomSignature.text.length);
  return bytes !== null && Buffer.from(bytes).toString('latin1') === dicomSignature.text;
}
