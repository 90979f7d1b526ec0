/** The files of a slide as they may leave the server: de-identified on the way, at equal length. */
import { isDicom } from '../dicom/file-meta.ts';
import { type Objects, openSlideFiles } from '../location/slide-place.ts';
import { SlideError, type SlideLocation } from '../model/slide.ts';
import type { ByteSource } from '../source/byte-source.ts';
import type { SlideFiles } from '../source/slide-files.ts';
import { isTiff } from '../tiff/tiff-file.ts';
import { deidentifyDicom } from './deidentify-dicom.ts';
import { deidentifyTiff } from './deidentify-tiff.ts';
import { applyPatches, NotDeidentifiable, type PatchList } from './patches.ts';

/** A file that may be downloaded. */
export interface OriginalFile {
  /** Relative to the folder of the leading file. */
  readonly path: string;
  readonly size: number;
  readonly patches: PatchList;
}

export interface OriginalPlan {
  /** Of the slide, as the catalogue has it. */
  readonly fingerprint: string;
  /** The leading file first. */
  readonly files: readonly OriginalFile[];
  /** Why the slide cannot be de-identified; then its files are unchanged. Null: they are de-identified. */
  readonly identifiable: string | null;
}

/**
 * Computes which bytes of which files of a slide are replaced.
 *
 * @param salt the same for all files of the slide and for each call
 * @throws SlideError of the source
 */
export async function planOriginals(
  location: SlideLocation,
  objects: Objects,
  salt: string,
): Promise<OriginalPlan> {
  const files = await openSlideFiles({ ...location, members: location.members ?? [] }, objects);
  try {
    const { fingerprint } = files;
    const names = [files.name, ...(location.members ?? []).filter((name) => name !== files.name)];
    try {
      return { fingerprint, files: await deidentifiedFiles(files, names, salt), identifiable: null };
    } catch (error) {
      if (!(error instanceof NotDeidentifiable)) throw error;
      return { fingerprint, files: await unchangedFiles(files, names), identifiable: error.message };
    }
  } finally {
    await files.close();
  }
}

async function deidentifiedFiles(
  files: SlideFiles,
  names: readonly string[],
  salt: string,
): Promise<OriginalFile[]> {
  const found: OriginalFile[] = [];
  for (const path of names) {
    const source = path === files.name ? files.leading : await openMember(files, path);
    const start = await source.read(0, Math.min(512, source.size));
    if (isDicom(start)) {
      const patches = await deidentifyDicom(source, salt);
      if (patches !== null) found.push({ path, size: source.size, patches });
    } else if (isTiff(start) && names.length === 1) {
      found.push({ path, size: source.size, patches: await deidentifyTiff(source) });
    } else {
      throw new NotDeidentifiable('the format is neither DICOM nor TIFF in one file');
    }
  }
  if (found.length === 0) throw new NotDeidentifiable('all files are labels or overviews');
  return found;
}

async function openMember(files: SlideFiles, path: string): Promise<ByteSource> {
  if (path.endsWith('/')) throw new NotDeidentifiable('the slide has folders of files');
  return files.open(path);
}

/** @returns no files for a slide with folders of files, which has no list of them */
async function unchangedFiles(files: SlideFiles, names: readonly string[]): Promise<OriginalFile[]> {
  const found: OriginalFile[] = [];
  for (const path of names) {
    if (path.endsWith('/')) return [];
    const { size } = path === files.name ? files.leading : await files.open(path);
    found.push({ path, size, patches: [] });
  }
  return found;
}

/** An open file of a plan. */
export interface OpenOriginal {
  /** @throws SlideError FILE_CHANGED and others of the source */
  read(offset: number, length: number, signal?: AbortSignal): Promise<Uint8Array>;
  close(): Promise<void>;
}

/** @throws SlideError FILE_CHANGED when the slide is no longer that of the plan */
export async function openOriginal(
  location: SlideLocation,
  objects: Objects,
  plan: OriginalPlan,
  file: OriginalFile,
): Promise<OpenOriginal> {
  const files = await openSlideFiles({ ...location, members: location.members ?? [] }, objects);
  try {
    if (files.fingerprint !== plan.fingerprint)
      throw new SlideError('FILE_CHANGED', 'The slide was replaced');
    const source = file.path === files.name ? files.leading : await files.open(file.path);
    return {
      async read(offset, length, signal) {
        const bytes = await source.read(offset, length, signal);
        applyPatches(file.patches, bytes, offset);
        return bytes;
      },
      close: files.close,
    };
  } catch (error) {
    await files.close();
    throw error;
  }
}
