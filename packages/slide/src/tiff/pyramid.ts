/** A pyramid of TIFF images, which are recognised as levels by their geometry. */
import { type Level, type Slide, SlideError } from '../model/slide.ts';
import type { ByteSource } from '../source/byte-source.ts';
import { readIccProfile } from './icc-profile.ts';
import { openImageTiles } from './image-tiles.ts';
import { limits } from './limits.ts';
import type { ReadTile, TiffImage } from './tiff-image.ts';

interface Size {
  /** Pixels. */
  readonly width: number;
  readonly height: number;
}

/** One image at several resolutions, each in its own directory. */
export interface Pyramid {
  /** The image of full resolution. */
  readonly full: TiffImage;
  readonly levels: readonly [Level, ...Level[]];
  readonly readTile: Slide['readTile'];
  /**
   * Returns the ICC profile of full resolution; null when it has none.
   *
   * @throws SlideError LIMIT_EXCEEDED, FILE_TRUNCATED, FILE_CORRUPT
   */
  readIccProfile(): Promise<Uint8Array | null>;
}

/**
 * Builds a pyramid from a file's images by their geometry, not by their order: the largest is full resolution, and every smaller
 * image with the same aspect ratio and orientation is a level. Of two images with the same size, the first is used.
 *
 * @param tiffImages images in the order of the file
 * @throws SlideError FORMAT_NOT_SUPPORTED without an image or for an unsupported encoding of a level, LIMIT_EXCEEDED, FILE_CORRUPT
 */
export async function openPyramid(source: ByteSource, tiffImages: readonly TiffImage[]): Promise<Pyramid> {
  const [full, ...reduced] = chooseLevels(tiffImages);
  if (!full)
    throw new SlideError('FORMAT_NOT_SUPPORTED', 'Not supported: a file without an image of the slide');
  const fullTiles = await openImageTiles(source, full);
  const levels: [Level, ...Level[]] = [{ ...fullTiles.grid, downsample: 1 }];
  const readers: ReadTile[] = [fullTiles.readTile];
  for (const tiffImage of reduced) {
    const { grid, readTile } = await openImageTiles(source, tiffImage);
    levels.push({ ...grid, downsample: (full.width / tiffImage.width + full.height / tiffImage.height) / 2 });
    readers.push(readTile);
  }
  return {
    full,
    levels,
    // Not async, because each further promise costs 1 % of the CPU time of a native tile.
    readTile({ level, column, row }, signal, allocate) {
      const readTile = readers[level];
      if (readTile) return readTile(column, row, signal, allocate);
      return Promise.reject(new SlideError('TILE_OUT_OF_RANGE', `There is no level ${level}`));
    },
    readIccProfile: () => readIccProfile(full.directory),
  };
}

/** Returns the levels, largest first; empty when there are no images. */
function chooseLevels(tiffImages: readonly TiffImage[]): TiffImage[] {
  const largestFirst = tiffImages.toSorted((a, b) => b.width * b.height - a.width * a.height);
  const [full] = largestFirst;
  if (!full) return [];
  const levels = [full];
  for (const tiffImage of largestFirst) {
    const isSmaller = tiffImage.width < (levels.at(-1)?.width ?? 0);
    const hasSameOrientation = tiffImage.orientation === full.orientation;
    if (isSmaller && hasSameOrientation && hasSameAspectRatio(tiffImage, full)) levels.push(tiffImage);
  }
  if (levels.length > limits.levels) {
    throw new SlideError('LIMIT_EXCEEDED', `The pyramid has ${levels.length} levels`);
  }
  return levels;
}

/**
 * Returns whether an image can be a reduced version of full resolution: a single downsample yields its width and its
 * height. Each may differ by a pixel, because writers round up, down or to the nearest.
 */
function hasSameAspectRatio(tiffImage: Size, full: Size): boolean {
  const minDownsample = Math.max(full.width / (tiffImage.width + 1), full.height / (tiffImage.height + 1));
  const maxDownsample = Math.min(full.width / (tiffImage.width - 1), full.height / (tiffImage.height - 1));
  return minDownsample <= maxDownsample;
}
