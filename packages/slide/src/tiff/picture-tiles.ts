import { turnOf } from '../decode/turn-raster.ts';
import { type Level, SlideError } from '../slide.ts';
import type { ByteSource } from '../source/byte-source.ts';
import { blockReader } from './block-reader.ts';
import { blockTags, checkBlockTable } from './block-table.ts';
import { readRowsPerStrip, type TileGrid } from './image-layout.ts';
import { limits } from './limits.ts';
import type { ReadTile, StoredTiles, TiffPicture } from './picture.ts';
import { type PictureCoding, readPictureCoding } from './picture-coding.ts';
import { openRawStrips } from './raw-strips.ts';

/** A picture as tiles, whether it is cut into tiles or into strips, upright. */
export interface PictureTiles {
  readonly grid: Omit<Level, 'downsample'>;
  /** @throws SlideError TILE_OUT_OF_RANGE, FILE_CORRUPT, FILE_TRUNCATED, FORMAT_NOT_SUPPORTED, LIMIT_EXCEEDED */
  readonly readTile: ReadTile;
}

/**
 * @throws SlideError FORMAT_NOT_SUPPORTED naming what is not read of the picture, FILE_CORRUPT when its tables are
 *   cut, LIMIT_EXCEEDED
 */
export async function openPictureTiles(source: ByteSource, picture: TiffPicture): Promise<PictureTiles> {
  const coding = await readPictureCoding(picture.directory);
  const stored = picture.tiles
    ? openTiles(source, picture, picture.tiles, coding)
    : await openStrips(source, picture, coding);
  const isMade = coding.codec !== 'jpeg' || picture.tiles === null || picture.orientation !== 1;
  return turn(stored, picture, isMade);
}

function openTiles(
  source: ByteSource,
  { directory, width, height }: TiffPicture,
  tiles: TileGrid,
  coding: PictureCoding,
): StoredTiles {
  const perPlane = tiles.columns * tiles.rows;
  checkBlockTable(directory, blockTags.tiles, perPlane * planesOf(coding));
  const readBlocks = blockReader(source, directory, coding, blockTags.tiles, perPlane);
  return {
    tiles,
    readTile: (column, row, signal, allocate) => {
      const request = {
        first: row * tiles.columns + column,
        count: 1,
        width: tiles.width,
        height: tiles.height,
        blockRows: tiles.height,
        filledWidth: Math.min(tiles.width, width - column * tiles.width),
        filledHeight: Math.min(tiles.height, height - row * tiles.height),
      };
      return readBlocks(request, signal, allocate);
    },
  };
}

/** Strips lower than this are read and unpacked several at a time. */
const STRIP_ROWS = 64;

async function openStrips(
  source: ByteSource,
  picture: TiffPicture,
  coding: PictureCoding,
): Promise<StoredTiles> {
  const { directory, width, height } = picture;
  const blockRows = await readRowsPerStrip(directory, picture);
  if (coding.codec === 'tiff' && coding.samples.packing === 'none') {
    return openRawStrips(source, picture, coding.samples, blockRows);
  }
  if (width * blockRows > limits.blockPixels) {
    throw new SlideError(
      'LIMIT_EXCEEDED',
      `A strip has ${width} × ${blockRows} pixels, which are packed as one`,
    );
  }
  const strips = Math.ceil(height / blockRows);
  checkBlockTable(directory, blockTags.strips, strips * planesOf(coding));
  const readBlocks = blockReader(source, directory, coding, blockTags.strips, strips);
  const together = coding.codec === 'tiff' ? Math.max(1, Math.floor(STRIP_ROWS / blockRows)) : 1;
  const tileHeight = blockRows * together;
  return {
    tiles: { width, height: tileHeight, columns: 1, rows: Math.ceil(strips / together) },
    readTile: (_, row, signal) => {
      const filledHeight = Math.min(tileHeight, height - row * tileHeight);
      const request = {
        first: row * together,
        count: Math.ceil(filledHeight / blockRows),
        width,
        // A JPEG says by itself whether the last strip is as high as the others.
        height: coding.codec === 'jpeg' ? tileHeight : filledHeight,
        blockRows,
        filledWidth: width,
        filledHeight,
      };
      return readBlocks(request, signal);
    },
  };
}

function planesOf(coding: PictureCoding): number {
  return coding.codec === 'tiff' && coding.samples.isPlanar ? coding.samples.samplesPerPixel : 1;
}

/** The tiles of the upright picture are those of the stored one, each turned, in another order. */
function turn({ tiles, readTile }: StoredTiles, picture: TiffPicture, isMade: boolean): PictureTiles {
  const { width, height, orientation } = picture;
  const { isSwapped, flipsX, flipsY } = turnOf(orientation);
  const along = { picture: width, tile: tiles.width, count: tiles.columns };
  const down = { picture: height, tile: tiles.height, count: tiles.rows };
  const [x, y] = isSwapped ? [down, along] : [along, down];
  const left = flipsX ? x.count * x.tile - x.picture : 0;
  const top = flipsY ? y.count * y.tile - y.picture : 0;
  return {
    grid: {
      width: x.picture,
      height: y.picture,
      tileWidth: x.tile,
      tileHeight: y.tile,
      columns: x.count,
      rows: y.count,
      ...((left > 0 || top > 0) && { outside: { left, top } }),
      ...(isMade && { isMade }),
    },
    async readTile(column, row, signal, allocate) {
      const isInside = column >= 0 && column < x.count && row >= 0 && row < y.count;
      if (!isInside || !Number.isInteger(column) || !Number.isInteger(row)) {
        throw new SlideError('TILE_OUT_OF_RANGE', `There is no tile ${column}, ${row}`);
      }
      if (orientation === 1) return await readTile(column, row, signal, allocate);
      const alongX = flipsX ? x.count - 1 - column : column;
      const alongY = flipsY ? y.count - 1 - row : row;
      const [storedColumn, storedRow] = isSwapped ? [alongY, alongX] : [alongX, alongY];
      const tile = await readTile(storedColumn, storedRow, signal);
      return tile && { ...tile, orientation };
    },
  };
}
