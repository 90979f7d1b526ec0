import { type EncodedImage, type Level, SlideError, type TileAddress } from '../slide.ts';
import type { ByteSource } from '../source/byte-source.ts';
import type { TiffDirectory } from './directory.ts';
import { readSampleLayout, type TileGrid } from './image-layout.ts';
import { jpegColourOf, jpegTiles, type ReadTile } from './jpeg-streams.ts';
import { limits } from './limits.ts';
import { tag } from './tags.ts';

interface Size {
  /** Pixels. */
  readonly width: number;
  readonly height: number;
}

/** A picture cut into tiles, and the directory that says where they are. */
export interface TiledPicture extends Size {
  readonly directory: TiffDirectory;
  readonly tiles: TileGrid;
}

/** The same picture at several resolutions, each in a directory of its own. */
export interface Pyramid {
  /** Full resolution. */
  readonly full: TiledPicture;
  readonly levels: readonly [Level, ...Level[]];
  readTile(address: TileAddress, signal?: AbortSignal): Promise<EncodedImage | null>;
}

/**
 * Make a pyramid of a file's pictures, by their geometry and not by their place: the largest is full resolution,
 * every other that is the same picture made smaller is a level. Of two equally large, the first counts.
 *
 * @param pictures in the order of the file, at least one
 * @throws SlideError FORMAT_NOT_SUPPORTED when a level is written in a way that is not read, LIMIT_EXCEEDED,
 *   FILE_CORRUPT
 */
export async function openPyramid(source: ByteSource, pictures: readonly TiledPicture[]): Promise<Pyramid> {
  const chosen = chooseLevels(pictures);
  const [full] = chosen;
  if (!full)
    throw new SlideError('FORMAT_NOT_SUPPORTED', 'Not read: no picture of the file is cut into tiles');
  const readers: ReadTile[] = [];
  for (const { directory, tiles } of chosen) {
    const colour = jpegColourOf(await readSampleLayout(directory));
    checkTable(directory, tiles);
    readers.push(jpegTiles(source, directory, tiles, colour));
  }
  return {
    full,
    levels: [levelOf(full, full), ...chosen.slice(1).map((picture) => levelOf(picture, full))],
    async readTile({ level, column, row }, signal) {
      const readTile = readers[level];
      if (!readTile) throw new SlideError('TILE_OUT_OF_RANGE', `There is no level ${level}`);
      return readTile(column, row, signal);
    },
  };
}

/** Told when the slide is opened; the tables themselves are read with the first tile. */
function checkTable(directory: TiffDirectory, { columns, rows }: TileGrid): void {
  const entries = Math.min(directory.count(tag.TileOffsets), directory.count(tag.TileByteCounts));
  if (entries < columns * rows) {
    throw new SlideError('FILE_CORRUPT', `A level of ${columns} × ${rows} tiles lists ${entries}`);
  }
}

/** @returns largest first; empty when there are no pictures */
function chooseLevels(pictures: readonly TiledPicture[]): TiledPicture[] {
  const bySize = pictures.toSorted((one, other) => other.width * other.height - one.width * one.height);
  const [full] = bySize;
  if (!full) return [];
  const levels = [full];
  for (const picture of bySize) {
    const isSmaller = picture.width < (levels.at(-1)?.width ?? 0);
    if (isSmaller && isReduced(picture, full)) levels.push(picture);
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

function levelOf({ width, height, tiles }: TiledPicture, full: Size): Level {
  return {
    width,
    height,
    tileWidth: tiles.width,
    tileHeight: tiles.height,
    columns: tiles.columns,
    rows: tiles.rows,
    downsample: (full.width / width + full.height / height) / 2,
  };
}
