/** The interface that every format reader implements, and the file header it decides by. */
import { isDicom } from '../dicom/file-meta.ts';
import type { Slide } from '../model/slide.ts';
import type { SlideFiles, SlideFolder, SlideGroup } from '../source/slide-files.ts';
import { type Tag, tag } from '../tiff/tags.ts';
import { isTiff, openTiff, type TiffFile } from '../tiff/tiff-file.ts';

/** The parts of a file by which every format decides whether it reads the file. */
export interface FileHeader {
  /** Base name of the leading file; a few formats are recognised only by it. */
  readonly name: string;
  /** The first bytes of the leading file, at most 512. */
  readonly start: Uint8Array;
  /** The file as TIFF with its first directory read; null when the file is not TIFF. */
  readonly tiff: TiffFile | null;
  /** Start of that directory's ImageDescription, where scanners identify themselves; empty when absent. */
  readonly description: string;
  /** Start of its Software and XMP, where some scanners store their own XML; empty when absent. */
  readonly software: string;
  readonly xmp: string;
}

/** The interface of a format reader; each file format in `formats/` exports one. */
export interface SlideFormat {
  readonly name: string;
  /**
   * True when the format has no native tiles, so that the server process, which only sends native tiles, does not open it.
   * If absent, some tiles may be native.
   */
  readonly needsRendering?: true;
  /** Returns null when the file is in this format, otherwise one clause with the reason why not. */
  mismatch(header: FileHeader): string | null;
  /** Opens the slide. The slide closes the files; when opening fails, the caller does. */
  open(files: SlideFiles, header: FileHeader): Promise<Slide>;
  /**
   * Only for formats whose slides consist of several files: returns which files of a folder belong together. Files
   * that are not of the format, or cannot be read, are in no group.
   */
  group?(folder: SlideFolder): Promise<readonly SlideGroup[]>;
}

const START_BYTES = 512;
const TEXT_BYTES = 64 * 1024;

/** Reads the header. @throws SlideError FILE_CORRUPT, FILE_TRUNCATED, LIMIT_EXCEEDED when a TIFF header is invalid */
export async function readFileHeader({ name, leading }: SlideFiles): Promise<FileHeader> {
  const start = await leading.read(0, Math.min(START_BYTES, leading.size));
  // The preamble of a DICOM file may be a valid TIFF header (DICOM PS3.10, 7.1).
  const tiff = isTiff(start) && !isDicom(start) ? await openTiff(leading) : null;
  const text = async (name: Tag) => (await tiff?.first.text(name, TEXT_BYTES)) ?? '';
  return {
    name,
    start,
    tiff,
    description: await text(tag.ImageDescription),
    software: await text(tag.Software),
    xmp: await text(tag.XMP),
  };
}
