import type { OptionalObjectReader } from '../location/open-slide-files.ts';
import { type Slide, SlideError, type SlideLocation } from '../model/slide.ts';
import { openSlideForNativeTiles } from '../open-slide.ts';
import type { SlideSummary } from '../render/slide-summary.ts';

/**
 * Opens a slide in the process that answers requests. A slide without native tiles (tiles of the file that are sent without
 * decoding) is not opened in that process; instead, a render process reads its metadata. The returned slide then has only this
 * metadata: it cannot read tiles, and reports neither associated images nor an ICC profile, even if the file has them.
 *
 * @param objects reads slides in object storage; null when all slides are in local folders
 * @param inspect reads the slide in a render process (`RenderPool.inspect`)
 * @throws SlideError errors of opening and inspecting the slide
 */
export async function openServedSlide(
  location: SlideLocation,
  inspect: () => Promise<SlideSummary>,
  objects: OptionalObjectReader = null,
): Promise<Slide> {
  return (await openSlideForNativeTiles(location, objects)) ?? slideFromSummary(await inspect());
}

/** Returns a slide with the metadata of a summary, and with a single level, which needs rendering. */
function slideFromSummary(summary: SlideSummary): Slide {
  const { format, fingerprint, vendor, mpp, objectivePower, width, height, tileSize, boundsOrigin } = summary;
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
        needsRendering: true,
      },
    ],
    mpp,
    objectivePower,
    background: { r: 255, g: 255, b: 255 }, // white, because a summary does not state it
    associatedImages: new Set(),
    ...(boundsOrigin !== undefined && { boundsOrigin }),
    async readTile() {
      throw new SlideError(
        'FORMAT_NOT_SUPPORTED',
        'The server process cannot read this slide: all its tiles are rendered',
      );
    },
    async readAssociatedImage(name) {
      throw new SlideError(
        'ASSOCIATED_IMAGE_MISSING',
        `The server process cannot read the ${name} image of this slide`,
      );
    },
    readIccProfile: async () => null,
    close: async () => {},
  };
}
