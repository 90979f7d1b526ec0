/** A TIFF image as upright tiles. */
import { orientationTransform } from '../decode/orient-raster.ts';
import { type Level, SlideError } from '../model/slide.ts';
import type { ByteSource } from '../source/byte-source.ts';
import { createBlockReader } from './block-reader.ts';
import { blockTags, checkBlockTable } from './block-table.ts';
import { type ImageCoding, readImageCoding } from './image-coding.ts';
import { readRowsPerStrip, type TileGrid } from './image-layout.ts';
import { limits } from './limits.ts';
import { openRawStrips } from './raw-strips.ts';
import type { ReadTile, StoredTiles, TiffImage } from './tiff-image.ts';

/**
 * An image in upright tiles. If the file stores compressed strips, a tile is one or more whole strips. If the
 * strips are uncompressed, a tile is a rectangle cut out of them.
 */
export interface ImageTiles {
  /** Size, tile grid and other properties of the image as a level, except its downsample. */
  readonly grid: Omit<Level, 'downsample'>;
  /** @throws SlideError TILE_OUT_OF_RANGE, FILE_CORRUPT, FILE_TRUNCATED, FORMAT_NOT_SUPPORTED, LIMIT_EXCEEDED */
  readonly readTile: ReadTile;
}

/**
 * Opens an image, whether it is stored in tiles or in strips.
 *
 * @throws SlideError FORMAT_NOT_SUPPORTED (the message names the property), FILE_CORRUPT when the image lists fewer
 *   tiles or strips than it needs, LIMIT_EXCEEDED
 */
export async function openImageTiles(source: ByteSource, tiffImage: TiffImage): Promise<ImageTiles> {
  const coding = await readImageCoding(tiffImage.directory);
  const stored = tiffImage.tiles
    ? openTiles(source, tiffImage, tiffImage.tiles, coding)
    : await openStrips(source, tiffImage, coding);
  // Only JPEG tiles that are upright (orientation 1) can be sent as they are stored.
  const needsRendering = coding.codec !== 'jpeg' || tiffImage.tiles === null || tiffImage.orientation !== 1;
  return arrangeUpright(stored, tiffImage, needsRendering);
}

function openTiles(
  source: ByteSource,
  { directory, width, height }: TiffImage,
  tiles: TileGrid,
  coding: ImageCoding,
): StoredTiles {
  const blocksPerPlane = tiles.columns * tiles.rows;
  checkBlockTable(directory, blockTags.tiles, blocksPerPlane * planeCountOf(coding));
  const readBlocks = createBlockReader(source, directory, coding, blockTags.tiles, blocksPerPlane);
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

/** Maximum rows of a tile that joins several strips. Only strips of the codec `tiff` can be joined. */
const JOINED_ROWS = 64;

async function openStrips(
  source: ByteSource,
  tiffImage: TiffImage,
  coding: ImageCoding,
): Promise<StoredTiles> {
  const { directory, width, height } = tiffImage;
  const blockRows = await readRowsPerStrip(directory, tiffImage);
  if (coding.codec === 'tiff' && coding.samples.packing === 'none') {
    return openRawStrips(source, tiffImage, coding.samples, blockRows);
  }
  if (width * blockRows > limits.blockPixels) {
    throw new SlideError(
      'LIMIT_EXCEEDED',
      `A strip of ${width} × ${blockRows} pixels is compressed as one block, which is too large`,
    );
  }
  const strips = Math.ceil(height / blockRows);
  checkBlockTable(directory, blockTags.strips, strips * planeCountOf(coding));
  const readBlocks = createBlockReader(source, directory, coding, blockTags.strips, strips);
  const stripsPerTile = coding.codec === 'tiff' ? Math.max(1, Math.floor(JOINED_ROWS / blockRows)) : 1;
  const tileHeight = blockRows * stripsPerTile;
  return {
    tiles: { width, height: tileHeight, columns: 1, rows: Math.ceil(strips / stripsPerTile) },
    readTile: (_, row, signal) => {
      const filledHeight = Math.min(tileHeight, height - row * tileHeight);
      const request = {
        first: row * stripsPerTile,
        count: Math.ceil(filledHeight / blockRows),
        width,
        // For a JPEG, which states its own height, this is the maximum: the last strip may be stored as high as a full strip.
        height: coding.codec === 'jpeg' ? tileHeight : filledHeight,
        blockRows,
        filledWidth: width,
        filledHeight,
      };
      return readBlocks(request, signal);
    },
  };
}

function planeCountOf(coding: ImageCoding): number {
  return coding.codec === 'tiff' && coding.samples.isPlanar ? coding.samples.samplesPerPixel : 1;
}

/** Arranges the tiles of the file in the upright grid: each tile is read from its stored position, and states the rotation to apply. */
function arrangeUpright(
  { tiles, readTile }: StoredTiles,
  tiffImage: TiffImage,
  needsRendering: boolean,
): ImageTiles {
  const { width, height, orientation } = tiffImage;
  const { isSwapped, flipsX, flipsY } = orientationTransform(orientation);
  const storedX = { imageSide: width, tileSide: tiles.width, count: tiles.columns };
  const storedY = { imageSide: height, tileSide: tiles.height, count: tiles.rows };
  const [uprightX, uprightY] = isSwapped ? [storedY, storedX] : [storedX, storedY];
  // Stored padding is on the right and bottom; a flip moves it to the left and top.
  const left = flipsX ? uprightX.count * uprightX.tileSide - uprightX.imageSide : 0;
  const top = flipsY ? uprightY.count * uprightY.tileSide - uprightY.imageSide : 0;

  /** Reads the tile from its position in the file. */
  const readRotated: ReadTile = async (column, row, signal) => {
    const columnBeforeFlip = flipsX ? uprightX.count - 1 - column : column;
    const rowBeforeFlip = flipsY ? uprightY.count - 1 - row : row;
    const [storedColumn, storedRow] = isSwapped
      ? [rowBeforeFlip, columnBeforeFlip]
      : [columnBeforeFlip, rowBeforeFlip];
    const tile = await readTile(storedColumn, storedRow, signal);
    return tile && { ...tile, orientation };
  };

  return {
    grid: {
      width: uprightX.imageSide,
      height: uprightY.imageSide,
      tileWidth: uprightX.tileSide,
      tileHeight: uprightY.tileSide,
      columns: uprightX.count,
      rows: uprightY.count,
      ...((left > 0 || top > 0) && { leadingPadding: { left, top } }),
      ...(needsRendering && { needsRendering }),
    },
    readTile(column, row, signal, allocate) {
      const isInside = column >= 0 && column < uprightX.count && row >= 0 && row < uprightY.count;
      if (!isInside || !Number.isInteger(column) || !Number.isInteger(row)) {
        return Promise.reject(new SlideError('TILE_OUT_OF_RANGE', `There is no tile ${column}, ${row}`));
      }
      const isUpright = orientation === 1;
      return isUpright ? readTile(column, row, signal, allocate) : readRotated(column, row, signal);
    },
  };
}
