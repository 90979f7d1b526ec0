import { isDicom } from '../dicom/file-meta.ts';
import type { Slide } from '../slide.ts';
import { type Tag, tag } from '../tiff/tags.ts';
import { isTiff, openTiff, type TiffFile } from '../tiff/tiff-file.ts';
import type { SlideFiles, SlideFolder, SlideGroup } from './slide-files.ts';

/** What every format may look at to say whether a file is one of its own. */
export interface FileHeader {
  /** Base name of the leading file; a few formats are known by nothing else. */
  readonly name: string;
  /** The first bytes of the leading file, at most 512. */
  readonly start: Uint8Array;
  /** The file as TIFF, its first directory read; null when it is none. */
  readonly tiff: TiffFile | null;
  /** Start of that directory's ImageDescription, where scanners write who they are; empty without one. */
  readonly description: string;
  /** Start of its Software, and of its XMP, where some scanners keep XML of their own; empty without one. */
  readonly software: string;
  readonly xmp: string;
}

/** One format is one file in `formats/` that exports one of these. */
export interface SlideFormat {
  readonly name: string;
  /**
   * No tile of such a slide can go out as it is stored: a process that others depend on gains nothing by opening it.
   * Absent: some may.
   */
  readonly isOnlyMade?: true;
  /** Null when the file is in this format, otherwise one clause saying why not. */
  mismatch(header: FileHeader): string | null;
  /** The slide closes the files; when opening fails, the caller does. */
  open(files: SlideFiles, header: FileHeader): Promise<Slide>;
  /**
   * Only of formats whose slides are several files: which files of a folder belong together. What it does not name
   * is no business of the format; what it cannot read, it does not name.
   */
  group?(folder: SlideFolder): Promise<readonly SlideGroup[]>;
}

const START_BYTES = 512;
const TEXT_BYTES = 64 * 1024;

/** @throws SlideError FILE_CORRUPT, FILE_TRUNCATED, LIMIT_EXCEEDED when the file breaks what its first bytes claim */
export async function readFileHeader({ name, leading }: SlideFiles): Promise<FileHeader> {
  const start = await leading.read(0, Math.min(START_BYTES, leading.size));
  // The preamble of a DICOM file may be the header of a TIFF file (DICOM PS3.10, 7.1); it is DICOM all the same.
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
