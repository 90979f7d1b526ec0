import { openStoredSlide } from '../open-slide.ts';
import { type Slide, SlideError, type SlideLocation } from '../slide.ts';
import type { Objects } from '../source/slide-place.ts';
import type { SlideSummary } from './slide-summary.ts';

/**
 * Open a slide in the process that answers requests. One whose tiles all have to be made is not opened there: what a
 * making process found out stands in for it, and says that it has no tile to give.
 *
 * @param inspect asks a making process (`TileMaker.inspect`)
 * @throws SlideError what opening the slide and inspecting it throw
 */
export async function openServedSlide(
  location: SlideLocation,
  inspect: () => Promise<SlideSummary>,
  objects: Objects = null,
): Promise<Slide> {
  return (await openStoredSlide(location, objects)) ?? standIn(await inspect());
}

function standIn(summary: SlideSummary): Slide {
  const { format, fingerprint, vendor, mpp, objectivePower, width, height, tileSize } = summary;
  return {
    format,
    fingerprint,
    vendor,
    levels: [
      {
        width,
        height,
        tileWidth: tileSize,
        tileHeight: tileSize,
        columns: Math.ceil(width / tileSize),
        rows: Math.ceil(height / tileSize),
        downsample: 1,
        isMade: true,
      },
    ],
    mpp,
    objectivePower,
    background: { r: 255, g: 255, b: 255 },
    associatedImages: new Set(),
    async readTile() {
      throw new SlideError('FORMAT_NOT_SUPPORTED', 'Not read here: a slide whose tiles all have to be made');
    },
    async readAssociatedImage(name) {
      throw new SlideError('ASSOCIATED_IMAGE_MISSING', `Not read here: the ${name} of the slide`);
    },
    readIccProfile: async () => null,
    close: async () => {},
  };
}
