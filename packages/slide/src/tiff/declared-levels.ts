/** The levels of formats whose metadata declare the size of each level, separately from the TIFF directories. */
import { type Level, type Slide, SlideError } from '../model/slide.ts';
import type { ByteSource } from '../source/byte-source.ts';
import { openImageTiles } from './image-tiles.ts';
import { limits } from './limits.ts';
import type { ReadTile, TiffImage } from './tiff-image.ts';

/** A TIFF image with the size and downsample that the metadata declare for it. */
export interface DeclaredLevel {
  readonly tiffImage: TiffImage;
  /** Pixels of the level; further columns and rows of the TIFF image are padding. */
  readonly width: number;
  readonly height: number;
  /** Level 0 pixels per pixel of this level; 1 for level 0. */
  readonly downsample: number;
}

/** The levels of a pyramid and the function that reads their tiles. */
export interface LevelTiles {
  readonly levels: readonly [Level, ...Level[]];
  readonly readTile: Slide['readTile'];
}

/** A level and the function that reads its tiles. */
export interface ReadableLevel {
  readonly level: Level;
  readonly readTile: ReadTile;
}

/**
 * Opens levels whose sizes and downsamples the file declares.
 *
 * @param declared levels from the largest to the smallest
 * @throws SlideError FORMAT_NOT_SUPPORTED without a level or for an unsupported encoding, LIMIT_EXCEEDED, FILE_CORRUPT when an image
 *   is smaller than declared
 */
export async function openDeclaredLevels(
  source: ByteSource,
  declared: readonly DeclaredLevel[],
): Promise<LevelTiles> {
  const levels: ReadableLevel[] = [];
  for (const { tiffImage, width, height, downsample } of declared) {
    const { grid, readTile } = await openImageTiles(source, tiffImage);
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
 * Joins levels that have separate readers. The joined `readTile` checks the tile address, then calls the reader of the level.
 *
 * @param readableLevels levels from the largest to the smallest
 * @throws SlideError FORMAT_NOT_SUPPORTED without a level, LIMIT_EXCEEDED
 */
export function joinLevels(readableLevels: readonly ReadableLevel[]): LevelTiles {
  const [first, ...smaller] = readableLevels.map(({ level }) => level);
  if (!first)
    throw new SlideError('FORMAT_NOT_SUPPORTED', 'Not supported: a file without an image of the slide');
  if (readableLevels.length > limits.levels) {
    throw new SlideError('LIMIT_EXCEEDED', `The pyramid has ${readableLevels.length} levels`);
  }
  return {
    levels: [first, ...smaller],
    async readTile({ level: index, column, row }, signal, allocate) {
      const { level, readTile } = readableLevels[index] ?? {};
      const isInside = level && column >= 0 && column < level.columns && row >= 0 && row < level.rows;
      if (!isInside || !readTile || !Number.isInteger(column) || !Number.isInteger(row)) {
        throw new SlideError('TILE_OUT_OF_RANGE', `There is no tile ${column}, ${row} of level ${index}`);
      }
      return readTile(column, row, signal, allocate);
    },
  };
}
