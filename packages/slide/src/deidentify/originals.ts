/**
 * The original files of a slide for download, de-identified: identifying bytes are replaced while the file is
 * read, so the length does not change and nothing is written to disk. If the files cannot be de-identified, the plan states the
 * reason and has the unchanged files, which the server sends only for datasets that allow it (`identifiable_originals`).
 */
import { isDicom } from '../dicom/file-meta.ts';
import { type OptionalObjectReader, openSlideFiles } from '../location/open-slide-files.ts';
import { SlideError, type SlideLocation } from '../model/slide.ts';
import type { ByteSource } from '../source/byte-source.ts';
import type { FileInFolder, SlideFiles } from '../source/slide-files.ts';
import { isTiff } from '../tiff/tiff-file.ts';
import { isVsi } from '../vsi/tag-tree.ts';
import { deidentifyDicom } from './deidentify-dicom.ts';
import { deidentifyTiff } from './deidentify-tiff.ts';
import { jpegMetadataEraser } from './jpeg-metadata.ts';
import { applyPatches, type Deidentification, NotDeidentifiable } from './patches.ts';

/** A file that may be downloaded, with the bytes to replace in it. */
export interface OriginalFile extends Deidentification {
  /** Path relative to the folder of the main file. */
  readonly path: string;
  /** Length in bytes. */
  readonly size: number;
}

/** The files of a slide that may be downloaded, with the bytes to replace in them. */
export interface OriginalPlan {
  /** Fingerprint of the slide for which the plan was made. */
  readonly fingerprint: string;
  /** The files that may be downloaded, the main file first. */
  readonly files: readonly OriginalFile[];
  /** The reason why the files cannot be de-identified and are unchanged; null if they are de-identified. */
  readonly notDeidentifiedBecause: string | null;
}

/**
 * Finds the bytes to replace in each file of a slide.
 *
 * @param salt secret from which new DICOM UIDs are derived; equal in all calls for a slide, so that the UIDs match
 * @throws SlideError errors of reading the files
 */
export async function planOriginals(
  location: SlideLocation,
  objects: OptionalObjectReader,
  salt: string,
): Promise<OriginalPlan> {
  // If the members are unknown, only the main file may be opened.
  const files = await openSlideFiles({ ...location, members: location.members ?? [] }, objects);
  try {
    const { fingerprint } = files;
    const paths = [files.name, ...(location.members ?? []).filter((name) => name !== files.name)];
    try {
      return {
        fingerprint,
        files: await deidentifiedFiles(files, paths, salt),
        notDeidentifiedBecause: null,
      };
    } catch (error) {
      if (!(error instanceof NotDeidentifiable)) throw error;
      return {
        fingerprint,
        files: await unchangedFiles(files, paths),
        notDeidentifiedBecause: error.message,
      };
    }
  } finally {
    await files.close();
  }
}

/** Bytes at the start of a file that are enough to recognise DICOM and TIFF. */
const SIGNATURE_BYTES = 512;

/** Returns the files that may be downloaded, with the patches that de-identify them. @throws NotDeidentifiable */
async function deidentifiedFiles(
  files: SlideFiles,
  paths: readonly string[],
  salt: string,
): Promise<OriginalFile[]> {
  const originals: OriginalFile[] = [];
  for (const path of paths) {
    const source = path === files.name ? files.main : await openMember(files, path);
    const start = await source.read(0, Math.min(SIGNATURE_BYTES, source.size));
    if (isDicom(start)) {
      const deidentification = await deidentifyDicom(source, salt);
      if (deidentification !== null) originals.push({ path, size: source.size, ...deidentification });
    } else if (isTiff(start) && !isVsi(start) && paths.length === 1) {
      originals.push({ path, size: source.size, ...(await deidentifyTiff(source)) });
    } else {
      throw new NotDeidentifiable('the format is neither DICOM nor TIFF in a single file');
    }
  }
  if (originals.length === 0) throw new NotDeidentifiable('all files are labels or overviews');
  return originals;
}

async function openMember(files: SlideFiles, path: string): Promise<ByteSource> {
  // A path that ends with a slash is a whole folder.
  if (path.endsWith('/')) throw new NotDeidentifiable('the slide includes a folder of files');
  return files.open(path);
}

/** Returns the files without patches. A path that ends with a slash stands for all files of that folder. */
async function unchangedFiles(files: SlideFiles, paths: readonly string[]): Promise<OriginalFile[]> {
  const found: FileInFolder[] = [];
  for (const path of paths) {
    if (path.endsWith('/')) for (const file of await files.listFolder(path)) found.push(file);
    else found.push({ path, size: (path === files.name ? files.main : await files.open(path)).size });
  }
  return found.map(({ path, size }) => ({ path, size, patches: [], jpegStreams: new Float64Array() }));
}

/** An open file of a plan. */
export interface OpenOriginal {
  /** Reads patched bytes. @throws SlideError FILE_CHANGED, and other errors of reading the file */
  read(offset: number, length: number, signal?: AbortSignal): Promise<Uint8Array>;
  close(): Promise<void>;
}

/**
 * Opens a file of a plan. Its bytes are patched when they are read.
 *
 * @throws SlideError FILE_CHANGED when the slide has changed since the plan was made
 */
export async function openOriginal(
  location: SlideLocation,
  objects: OptionalObjectReader,
  plan: OriginalPlan,
  file: OriginalFile,
): Promise<OpenOriginal> {
  const files = await openSlideFiles({ ...location, members: location.members ?? [] }, objects);
  try {
    if (files.fingerprint !== plan.fingerprint)
      throw new SlideError('FILE_CHANGED', 'The slide has changed since its download was planned');
    const source = file.path === files.name ? files.main : await files.open(file.path);
    const eraseJpegMetadata = jpegMetadataEraser(source, file.jpegStreams);
    return {
      async read(offset, length, signal) {
        const bytes = await source.read(offset, length, signal);
        await eraseJpegMetadata(bytes, offset, signal);
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
