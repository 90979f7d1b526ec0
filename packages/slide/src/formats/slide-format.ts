/**
 * The interface of format readers, and the header by which they recognise their files. `openSlideFrom` in
 * `open-slide.ts` opens a slide with the first reader that recognises it.
 */
import { isDicom } from '../dicom/file-meta.ts';
import type { Slide } from '../model/slide.ts';
import type { SlideFiles, SlideFolder, SlideGroup } from '../source/slide-files.ts';
import { type Tag, tag } from '../tiff/tags.ts';
import { isTiff, openTiff, type TiffFile } from '../tiff/tiff-file.ts';

/** The parts of a slide's main file by which a format reader decides whether the slide is in its format. */
export interface FileHeader {
  /** Base name of the main file, the file by which a slide is opened. A few formats are recognised only by its extension. */
  readonly name: string;
  /** The first bytes of the main file, at most 512. */
  readonly start: Uint8Array;
  /** The file as TIFF with its first directory read; null when the file is not TIFF. */
  readonly tiff: TiffFile | null;
  /** First 64 KiB of ImageDescription in the first directory, where scanners identify themselves; empty when absent. */
  readonly description: string;
  /** First 64 KiB of the Software tag, by which some scanners are recognised; empty when absent. */
  readonly software: string;
  /** First 64 KiB of the XMP tag, where some scanners store their own XML; empty when absent. */
  readonly xmp: string;
}

/** The interface of a format reader; the module of each format in `formats/` exports one reader. */
export interface SlideFormat {
  /** Name of the reader, for messages; most readers also use it as `Slide.format`. */
  readonly name: string;
  /**
   * Set when every tile of the format must be decoded and rendered. A server process sends tiles only as they are
   * stored, so it leaves such a slide to a render worker (a process that decodes and draws tiles).
   */
  readonly needsRendering?: true;
  /** Returns why the file is not in this format, e.g. "the file is not TIFF"; null when it is. */
  mismatchReason(header: FileHeader): string | null;
  /** Opens the slide. Closing the slide closes the files; if opening fails, the caller must close them. */
  open(files: SlideFiles, header: FileHeader): Promise<Slide>;
  /**
   * Groups the files of a folder by slide. Only formats whose slides consist of several files have this method. Files of
   * other formats, and files that cannot be read, are in no group.
   */
  group?(folder: SlideFolder): Promise<readonly SlideGroup[]>;
}

/** Number of bytes to read from the start of the file. */
const START_BYTES = 512;
/** Maximum number of bytes to read from each text tag. */
const TEXT_BYTES = 64 * 1024;

/**
 * Reads the start of the main file and, if it is TIFF, its first directory.
 *
 * @throws SlideError FILE_CORRUPT, FILE_TRUNCATED, LIMIT_EXCEEDED when a TIFF header is invalid
 */
export async function readFileHeader({ name, main }: SlideFiles): Promise<FileHeader> {
  const start = await main.read(0, Math.min(START_BYTES, main.size));
  // The preamble of a DICOM file may be a valid TIFF header (DICOM PS3.10, 7.1).
  const tiff = isTiff(start) && !isDicom(start) ? await openTiff(main) : null;
  const readText = async (textTag: Tag) => (await tiff?.first.text(textTag, TEXT_BYTES)) ?? '';
  return {
    name,
    start,
    tiff,
    description: await readText(tag.ImageDescription),
    software: await readText(tag.Software),
    xmp: await readText(tag.XMP),
  };
}
