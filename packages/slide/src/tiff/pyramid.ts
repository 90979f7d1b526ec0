import { type Level, type Slide, SlideError } from '../slide.ts';
import type { ByteSource } from '../source/byte-source.ts';
import { readIccProfile } from './icc-profile.ts';
import { limits } from './limits.ts';
import type { ReadTile, TiffPicture } from './picture.ts';
import { openPictureTiles } from './picture-tiles.ts';

interface Size {
  /** Pixels. */
  readonly width: number;
  readonly height: number;
}

/** The same picture at several resolutions, each in a directory of its own. */
export interface Pyramid {
  /** Full resolution. */
  readonly full: TiffPicture;
  readonly levels: readonly [Level, ...Level[]];
  readonly readTile: Slide['readTile'];
  /** Of full resolution; null without one. @throws SlideError LIMIT_EXCEEDED, FILE_TRUNCATED, FILE_CORRUPT */
  readIccProfile(): Promise<Uint8Array | null>;
}

/**
 * Make a pyramid of a file's pictures, by their geometry and not by their place: the largest is full resolution,
 * every other that is the same picture made smaller, and stored the same way up, is a level. Of two equally large,
 * the first counts.
 *
 * @param pictures in the order of the file, at least one
 * @throws SlideError FORMAT_NOT_SUPPORTED when a level is written in a way that is not read, LIMIT_EXCEEDED,
 *   FILE_CORRUPT
 */
export async function openPyramid(source: ByteSource, pictures: readonly TiffPicture[]): Promise<Pyramid> {
  const [full, ...reduced] = chooseLevels(pictures);
  if (!full) throw new SlideError('FORMAT_NOT_SUPPORTED', 'Not read: a file without a picture of the slide');
  const first = await openPictureTiles(source, full);
  const levels: [Level, ...Level[]] = [{ ...first.grid, downsample: 1 }];
  const readers: ReadTile[] = [first.readTile];
  for (const picture of reduced) {
    const { grid, readTile } = await openPictureTiles(source, picture);
    levels.push({ ...grid, downsample: (full.width / picture.width + full.height / picture.height) / 2 });
    readers.push(readTile);
  }
  return {
    full,
    levels,
    async readTile({ level, column, row }, signal, allocate) {
      const readTile = readers[level];
      if (!readTile) throw new SlideError('TILE_OUT_OF_RANGE', `There is no level ${level}`);
      return await readTile(column, row, signal, allocate); // awaited here, a promise is passed on two turns sooner
    },
    readIccProfile: () => readIccProfile(full.directory),
  };
}

/** @returns largest first; empty when there are no pictures */
function chooseLevels(pictures: readonly TiffPicture[]): TiffPicture[] {
  const bySize = pictures.toSorted((one, other) => other.width * other.height - one.width * one.height);
  const [full] = bySize;
  if (!full) return [];
  const levels = [full];
  for (const picture of bySize) {
    const isSmaller = picture.width < (levels.at(-1)?.width ?? 0);
    const isSameWayUp = picture.orientation === full.orientation;
    if (isSmaller && isSameWayUp && isReduced(picture, full)) levels.push(picture);
  }
  if (levels.length > limits.levels) {
    throw new SlideError('LIMIT_EXCEEDED', `The pyramid has ${levels.length} levels`);
  }
  return levels;
}

/**
 * Whether one picture is the other made smaller: some downsample gives both its sides, each off by at most the
 * one pixel that rounding up, down or to the nearest makes.
 */
function isReduced(picture: Size, full: Size): boolean {
  const least = Math.max(full.width / (picture.width + 1), full.height / (picture.height + 1));
  const most = Math.min(full.width / (picture.width - 1), full.height / (picture.height - 1));
  return least <= most;
}
