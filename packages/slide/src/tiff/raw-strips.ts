/** Tiles that are cut out of an image in uncompressed strips. */
import { SlideError } from '../model/slide.ts';
import type { ByteSource } from '../source/byte-source.ts';
import { readOnce } from '../source/read-once.ts';
import { blockTags, checkByteRange } from './block-table.ts';
import type { NumberTable, TiffDirectory } from './directory.ts';
import type { SampleCoding } from './image-coding.ts';
import { limits } from './limits.ts';
import type { StoredTiles, TiffImage } from './tiff-image.ts';

/**
 * Size in pixels of the tiles that an image is divided into. The width is a multiple of 8, so that a tile begins at a whole
 * byte with any number of bits per pixel.
 */
const TILE = { width: 2048, height: 256 };

/** The strips of an image, plane by plane; a plane contains one sample of every pixel, or all samples if they are interleaved. */
interface RawStrips {
  /** Rows of the image. */
  readonly height: number;
  readonly rowsPerStrip: number;
  /** Bytes of one row of the image; every row begins at a new byte. */
  readonly rowBytes: number;
  readonly stripsPerPlane: number;
  readonly planes: number;
}

/** A range of consecutive bytes of the file. */
interface ByteRange {
  readonly offset: number;
  readonly length: number;
}

/**
 * Opens an image in uncompressed strips. Reading a tile reads only its part of each row, so a tile in one strip of
 * several gigabytes is read as fast as a tile that extends over many small strips.
 *
 * @throws SlideError FILE_CORRUPT when the image lists fewer strips than it needs, LIMIT_EXCEEDED
 */
export function openRawStrips(
  source: ByteSource,
  { directory, width, height }: TiffImage,
  samples: SampleCoding,
  rowsPerStrip: number,
): StoredTiles {
  const planes = samples.isPlanar ? samples.samplesPerPixel : 1;
  const bitsPerPixel = samples.bits * (samples.isPlanar ? 1 : samples.samplesPerPixel);
  const raw: RawStrips = {
    height,
    rowsPerStrip,
    rowBytes: bytesOf(width * bitsPerPixel),
    stripsPerPlane: Math.ceil(height / rowsPerStrip),
    planes,
  };
  const listedCount = directory.count(blockTags.strips[0]); // the offsets; byte counts may be missing
  if (listedCount < raw.stripsPerPlane * planes) {
    throw new SlideError(
      'FILE_CORRUPT',
      `An image needs ${raw.stripsPerPlane * planes} strips and lists ${listedCount}`,
    );
  }
  const readOffsets = readOnce(() => readStripOffsets(directory, raw));
  const tiles = {
    width: Math.min(width, TILE.width),
    height: Math.min(height, TILE.height),
    columns: Math.ceil(width / TILE.width),
    rows: Math.ceil(height / TILE.height),
  };
  if (tiles.columns * tiles.rows > limits.tilesPerLevel) {
    throw new SlideError(
      'LIMIT_EXCEEDED',
      `An image of ${width} × ${height} pixels has ${tiles.columns * tiles.rows} tiles; the limit is ${limits.tilesPerLevel}`,
    );
  }

  return {
    tiles,
    async readTile(column, row, signal) {
      const offsets = await readOffsets();
      const left = column * TILE.width;
      const top = row * TILE.height;
      const tileRect = {
        firstByteInRow: (left * bitsPerPixel) / 8,
        tileRowBytes: bytesOf(Math.min(TILE.width, width - left) * bitsPerPixel),
        topRow: top,
        rows: Math.min(TILE.height, height - top),
      };
      const rangesOfPlanes = Array.from({ length: planes }, (_, plane) =>
        byteRangesOf(raw, offsets, plane, tileRect),
      );
      const emptyPlanes = rangesOfPlanes.filter((ranges) => ranges.length === 0).length;
      if (emptyPlanes === planes) return null;
      if (emptyPlanes > 0) throw missingStrips();
      const bytes = new Uint8Array(planes * tileRect.rows * tileRect.tileRowBytes);
      await readByteRanges(source, rangesOfPlanes.flat(), bytes, signal);
      // The decoder receives the rows of each plane as one block.
      const blockBytes = new Array<number>(planes).fill(tileRect.rows * tileRect.tileRowBytes);
      return {
        codec: 'tiff',
        bytes,
        width: Math.min(TILE.width, width - left),
        height: tileRect.rows,
        coding: { ...samples, blockRows: tileRect.rows, blockBytes },
      };
    },
  };
}

const bytesOf = (bits: number) => Math.ceil(bits / 8);

/**
 * Reads the strip offsets. Byte counts, which some writers omit, may be missing or 0, because the length of an uncompressed strip
 * follows from its number of rows.
 *
 * @throws SlideError FILE_CORRUPT when a byte count is too small for the rows of its strip
 */
async function readStripOffsets(directory: TiffDirectory, raw: RawStrips): Promise<NumberTable> {
  const [offsetsTag, byteCountsTag] = blockTags.strips;
  const count = raw.stripsPerPlane * raw.planes;
  if (directory.count(byteCountsTag) >= count) {
    const byteCounts = await directory.table(byteCountsTag, count);
    for (const [i, byteCount] of byteCounts.entries()) {
      const top = (i % raw.stripsPerPlane) * raw.rowsPerStrip;
      const needed = Math.min(raw.rowsPerStrip, raw.height - top) * raw.rowBytes;
      if (byteCount > 0 && byteCount < needed) {
        throw new SlideError(
          'FILE_CORRUPT',
          `A strip needs ${needed} bytes, and its byte count is ${byteCount}`,
        );
      }
    }
  }
  return directory.table(offsetsTag, count);
}

/**
 * Returns the byte ranges of the rows of a tile in one plane; joins ranges that are adjacent in the file. A strip with the
 * offset 0 is empty; the list is empty when all strips of the tile are empty.
 */
function byteRangesOf(
  { rowsPerStrip, rowBytes, stripsPerPlane }: RawStrips,
  offsets: NumberTable,
  plane: number,
  tileRect: { firstByteInRow: number; tileRowBytes: number; topRow: number; rows: number },
): ByteRange[] {
  const ranges: ByteRange[] = [];
  let emptyRows = 0; // rows of the tile that lie in empty strips
  for (let row = tileRect.topRow; row < tileRect.topRow + tileRect.rows; row++) {
    const stripOffset = offsets[plane * stripsPerPlane + Math.floor(row / rowsPerStrip)] ?? 0;
    if (stripOffset === 0) {
      emptyRows++;
      continue;
    }
    const offset = stripOffset + (row % rowsPerStrip) * rowBytes + tileRect.firstByteInRow;
    const last = ranges.at(-1);
    if (last && last.offset + last.length === offset) {
      ranges[ranges.length - 1] = { offset: last.offset, length: last.length + tileRect.tileRowBytes };
    } else ranges.push({ offset, length: tileRect.tileRowBytes });
  }
  if (emptyRows > 0 && ranges.length > 0) throw missingStrips();
  return ranges;
}

const missingStrips = () => new SlideError('FILE_CORRUPT', 'Some strips of a tile are missing');

/** Reads the ranges, all at the same time. In the target, they follow each other without gaps. */
async function readByteRanges(
  source: ByteSource,
  ranges: readonly ByteRange[],
  target: Uint8Array,
  signal?: AbortSignal,
): Promise<void> {
  const reads: Promise<void>[] = [];
  let targetAt = 0;
  for (const { offset, length } of ranges) {
    checkByteRange(source, offset, length);
    reads.push(source.readInto(target, targetAt, offset, length, signal));
    targetAt += length;
  }
  await Promise.all(reads);
}
