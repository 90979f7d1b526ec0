/**
 * Which files of a folder are one slide, where only their content tells: a DICOM series, a VMS slide. It is told once
 * for as long as the folder does not change, so that looking through it again costs nothing.
 */
import { createHash } from 'node:crypto';
import { hasSlideName, mayBeDicomByContent } from '../domain/slide-names.ts';
import type { FolderTree } from '../slides/folder-tree.ts';
import type { SlideGroup } from '../slides/slides.ts';

/** A regular file, as a look at it says. */
export interface SeenFile {
  readonly name: string;
  readonly realPlace: string;
  readonly size: number;
  /** Changes whenever the file does. */
  readonly version: string;
}

/** @returns the slides among the files, those of one file too; null when that cannot be told now */
export type GroupFiles = (
  tree: FolderTree,
  folder: string,
  files: readonly SeenFile[],
) => Promise<readonly SlideGroup[] | null>;

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

/** The same as long as the files are. */
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

/** `DICM` after a preamble of 128 bytes (DICOM PS3.10 section 7.1). */
export async function isDicomByContent(tree: FolderTree, realPlace: string): Promise<boolean> {
  const bytes = await tree.read(realPlace, 128, 4);
  return bytes !== null && Buffer.from(bytes).toString('latin1') === 'DICM';
}
