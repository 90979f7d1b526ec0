import { type Level, type Slide, SlideError } from '../slide.ts';
import type { ByteSource } from '../source/byte-source.ts';
import { limits } from './limits.ts';
import type { ReadTile, TiffPicture } from './picture.ts';
import { openPictureTiles } from './picture-tiles.ts';

/** A picture, and what the file says of it elsewhere than in its directory. */
export interface StatedLevel {
  readonly picture: TiffPicture;
  /** Pixels that are picture: what the directory has beyond them is padding. */
  readonly width: number;
  readonly height: number;
  /** Of full resolution, 1 for it. */
  readonly downsample: number;
}

/** A pyramid as far as `Slide` speaks of one. */
export interface LevelTiles {
  readonly levels: readonly [Level, ...Level[]];
  readonly readTile: Slide['readTile'];
}

/** A level, and how its tiles are read. */
export interface ReadableLevel {
  readonly level: Level;
  readonly readTile: ReadTile;
}

/**
 * Levels whose sizes and places are known from more than geometry.
 *
 * @param stated largest first, at least one
 * @throws SlideError FORMAT_NOT_SUPPORTED, LIMIT_EXCEEDED, FILE_CORRUPT when a picture is smaller than it must be
 */
export async function openStatedLevels(
  source: ByteSource,
  stated: readonly StatedLevel[],
): Promise<LevelTiles> {
  const levels: ReadableLevel[] = [];
  for (const { picture, width, height, downsample } of stated) {
    const { grid, readTile } = await openPictureTiles(source, picture);
    if (width < 1 || height < 1 || width > grid.width || height > grid.height) {
      throw new SlideError(
        'FILE_CORRUPT',
        `A level of ${width} × ${height} pixels is stored as ${grid.width} × ${grid.height}`,
      );
    }
    const columns = Math.ceil(width / grid.tileWidth);
    const rows = Math.ceil(height / grid.tileHeight);
    levels.push({ level: { ...grid, width, height, columns, rows, downsample }, readTile });
  }
  return joinLevels(levels);
}

/**
 * @param readable largest first, at least one; what lies outside the grid of its level is not asked for
 * @throws SlideError FORMAT_NOT_SUPPORTED, LIMIT_EXCEEDED
 */
export function joinLevels(readable: readonly ReadableLevel[]): LevelTiles {
  const [first, ...smaller] = readable.map(({ level }) => level);
  if (!first) throw new SlideError('FORMAT_NOT_SUPPORTED', 'Not read: a file without a picture of the slide');
  if (readable.length > limits.levels) {
    throw new SlideError('LIMIT_EXCEEDED', `The pyramid has ${readable.length} levels`);
  }
  return {
    levels: [first, ...smaller],
    async readTile({ level: index, column, row }, signal, allocate) {
      const { level, readTile } = readable[index] ?? {};
      const isInside = level && column >= 0 && column < level.columns && row >= 0 && row < level.rows;
      if (!isInside || !readTile || !Number.isInteger(column) || !Number.isInteger(row)) {
        throw new SlideError('TILE_OUT_OF_RANGE', `There is no tile ${column}, ${row} of level ${index}`);
      }
      return readTile(column, row, signal, allocate);
    },
  };
}
