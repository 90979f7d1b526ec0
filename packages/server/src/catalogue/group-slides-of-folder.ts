/**
 * Groups the files of a folder into slides where only their content shows it: a DICOM series, a VMS slide. Caches the
 * groups until a file of the folder changes, so that the next scan reads nothing.
 */
import { createHash } from 'node:crypto';
import { dicomSignature, hasSlideName, mayBeDicomByContent } from '@lamina/slide/names';
import type { FolderTree } from '../slide-storage/folder-tree.ts';
import type { SlideGroup } from '../tiles/slides.ts';

/** A regular file of the folder. */
export interface SeenFile {
  readonly name: string;
  readonly realPlace: string;
  readonly size: number;
  /** Changes whenever the file does. */
  readonly version: string;
}

/** Returns the slides among the files, also those of a single file; null when the folder cannot be read now. */
export type GroupFiles = (
  tree: FolderTree,
  folder: string,
  files: readonly SeenFile[],
) => Promise<readonly SlideGroup[] | null>;

/** Folders in the cache. */
const maxKnown = 10_000;

export function createGroupFiles(): GroupFiles {
  const known = new Map<string, { readonly signature: string; readonly slides: readonly SlideGroup[] }>();
  return async (tree, folder, files) => {
    const signature = signatureOf(files);
    const before = known.get(folder);
    if (before?.signature === signature) return before.slides;
    const slides = await slidesAmong(tree, folder, files);
    if (slides === null) return null;
    if (known.size >= maxKnown) known.clear();
    known.set(folder, { signature, slides });
    return slides;
  };
}

/** Returns the same text as long as names and versions of the files do not change. */
export function signatureOf(files: readonly SeenFile[]): string {
  const seen = files.map(({ name, version }) => [name, version]);
  return createHash('sha256').update(JSON.stringify(seen)).digest('base64url');
}

async function slidesAmong(
  tree: FolderTree,
  folder: string,
  files: readonly SeenFile[],
): Promise<readonly SlideGroup[] | null> {
  const names: string[] = [];
  for (const { name, realPlace } of files) {
    const isOther = mayBeDicomByContent(name) && !(await isDicomByContent(tree, realPlace));
    if (!isOther) names.push(name);
  }
  const groups = names.length > 1 ? await tree.group(folder, names) : [];
  if (groups === null) return null;
  const taken = new Set(groups.flatMap(({ leading, members }) => [leading, ...members]));
  const alone = names.filter((name) => !taken.has(name) && (hasSlideName(name) || mayBeDicomByContent(name)));
  return [...groups, ...alone.map((leading) => ({ leading, members: [] }))];
}

export async function isDicomByContent(tree: FolderTree, realPlace: string): Promise<boolean> {
  const bytes = await tree.read(realPlace, dicomSignature.offset, dicomSignature.text.length);
  return bytes !== null && Buffer.from(bytes).toString('latin1') === dicomSignature.text;
}
