import { aperio } from './formats/aperio.ts';
import { tiledTiff } from './formats/tiled-tiff.ts';
import { type Slide, SlideError, type SlideLocation } from './slide.ts';
import { openSlideFiles, type SlideFiles } from './source/slide-files.ts';
import { readFileHeader, type SlideFormat } from './source/slide-format.ts';

/** Asked in this order: the first format without a mismatch opens the file, so specific before generic. */
const formats: readonly SlideFormat[] = [aperio, tiledTiff];

/**
 * Open a slide; the caller closes it.
 *
 * @throws SlideError FORMAT_NOT_RECOGNISED with every format's reason for refusing, FILE_MISSING, and whatever
 *   the format finds wrong with the file
 */
export async function openSlide(location: SlideLocation): Promise<Slide> {
  return openSlideFrom(await openSlideFiles(location.path));
}

/** The same for files that are open already; they are closed when the slide is, or cannot be opened. */
export async function openSlideFrom(files: SlideFiles): Promise<Slide> {
  try {
    const header = await readFileHeader(files);
    const mismatches: string[] = [];
    for (const format of formats) {
      const mismatch = format.mismatch(header);
      if (mismatch === null) return await format.open(files, header);
      mismatches.push(`${format.name}: ${mismatch}`);
    }
    throw new SlideError('FORMAT_NOT_RECOGNISED', `No format knows the file (${mismatches.join('; ')})`);
  } catch (error) {
    await files.close();
    throw error;
  }
}
