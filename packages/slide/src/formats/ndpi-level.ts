/**
 * Reads one image of an NDPI file (Hamamatsu) in tiles, although the file stores it as a single JPEG. JPEG restart
 * markers divide the data into intervals that can be decoded separately; a tile is a rectangle of intervals.
 */
import type { JpegColour } from '../jpeg/complete-jpeg.ts';
import { corruptError, type JpegHeader, readJpegHeader } from '../jpeg/header.ts';
import { buildMinimalHead } from '../jpeg/minimal-head.ts';
import { readJpegHead } from '../jpeg/read-head.ts';
import {
  type IntervalGrid,
  type IntervalStarts,
  intervalGrid,
  intervalReader,
} from '../jpeg/restart-intervals.ts';
import { type EncodedImage, type Level, notSupportedError, SlideError } from '../model/slide.ts';
import type { ByteSource } from '../source/byte-source.ts';
import { checkByteRange } from '../tiff/block-table.ts';
import type { TiffDirectory } from '../tiff/directory.ts';
import { readImageCoding } from '../tiff/image-coding.ts';
import { readGeometry } from '../tiff/image-layout.ts';
import { tag } from '../tiff/tags.ts';

/** One image of an NDPI file, in tiles. An image without a grid of restart intervals (`intervalGrid`) has a single tile. */
export interface NdpiLevel {
  /** Size of the image and of its tiles, in pixels, and number of tiles. */
  readonly grid: Omit<Level, 'downsample'>;
  /** @throws SlideError TILE_OUT_OF_RANGE, FILE_CORRUPT, FILE_TRUNCATED, FORMAT_NOT_SUPPORTED, LIMIT_EXCEEDED */
  readTile(column: number, row: number, signal?: AbortSignal): Promise<EncodedImage>;
}

/** Preferred tile side in pixels. The tiles that the renderer draws have the same side. */
const TILE_SIDE = 256;
/** Limits of an image without a grid of restart intervals, which is decoded as a whole. libjpeg accepts at most 65,500 pixels a side. */
const SINGLE_TILE_LIMITS = { pixels: 2 ** 24, side: 65_500, bytes: 64 * 2 ** 20 };
/** Largest side in pixels that a JPEG frame header can state. For a larger one, scanners write 0 or the side modulo 65,536. */
const MAX_FRAME_SIDE = 65_535;
/** Maximum difference, in pixels, between a side in the JPEG and in the directory, for an image that is a single tile. */
const SIDE_TOLERANCE = 16;
/** Second bytes of the JPEG frame markers SOF0 and SOF1; the first byte of a marker is 0xff. */
const BASELINE = 0xc0;
const EXTENDED = 0xc1;

/** The JPEG of an image, with the part that is read when the slide is opened: the head. */
interface NdpiJpeg {
  readonly source: ByteSource;
  /** Position and length of the JPEG in the file. */
  readonly offset: number;
  readonly byteCount: number;
  /** All bytes before the data of the first scan. */
  readonly head: Uint8Array;
  /** The parsed `head`. */
  readonly header: JpegHeader;
  readonly colour: JpegColour;
}

/**
 * Opens one image of an NDPI file.
 *
 * @returns null when the image has no grid of restart intervals and is too large to be decoded as a whole
 * @throws SlideError FORMAT_NOT_SUPPORTED, FILE_CORRUPT, FILE_TRUNCATED, LIMIT_EXCEEDED
 */
export async function openNdpiLevel(source: ByteSource, directory: TiffDirectory): Promise<NdpiLevel | null> {
  const { width, height } = await readGeometry(directory);
  const jpeg = await readNdpiJpeg(source, directory);
  const intervals = intervalGrid(jpeg.header, width, height);
  if (!intervals) return openSingleTile(jpeg, width, height);
  const noTolerance = 0;
  checkSide(jpeg.header.width, width, noTolerance);
  checkSide(jpeg.header.height, height, noTolerance);
  return openIntervals(jpeg, directory, { width, height, intervals });
}

/** Reads a small associated image. @throws SlideError as `openNdpiLevel` does */
export async function readNdpiImage(source: ByteSource, directory: TiffDirectory): Promise<EncodedImage> {
  const { width, height } = await readGeometry(directory);
  const image = openSingleTile(await readNdpiJpeg(source, directory), width, height);
  if (!image) throw new SlideError('LIMIT_EXCEEDED', `An associated image has ${width} × ${height} pixels`);
  return image.readTile(0, 0);
}

/** Reads the start of an image's JPEG, and checks that the reader supports it. */
async function readNdpiJpeg(source: ByteSource, directory: TiffDirectory): Promise<NdpiJpeg> {
  const coding = await readImageCoding(directory);
  if (coding.codec !== 'jpeg') throw notSupportedError('an image that is not JPEG');
  if (directory.count(tag.StripOffsets) !== 1 || directory.count(tag.StripByteCounts) !== 1) {
    throw notSupportedError('an image in several strips');
  }
  const offset = (await directory.number(tag.StripOffsets)) ?? 0;
  const byteCount = (await directory.number(tag.StripByteCounts)) ?? 0;
  checkByteRange(source, offset, byteCount);
  const head = await readJpegHead(source, offset, byteCount);
  const header = readJpegHeader(head);
  const { frameMarker, precision, components, scanComponents } = header;
  if ((frameMarker !== BASELINE && frameMarker !== EXTENDED) || precision !== 8) {
    throw notSupportedError('progressive, lossless, arithmetic or 12-bit JPEG');
  }
  if (components.length !== (coding.colour === 'grey' ? 1 : 3)) {
    throw corruptError(`it has ${components.length} components`);
  }
  if (scanComponents !== components.length) throw notSupportedError('a scan for each component');
  return { source, offset, byteCount, head, header, colour: coding.colour };
}

/** Opens an image whose restart intervals form rectangles; a tile is about `TILE_SIDE` pixels wide and high. */
function openIntervals(
  jpeg: NdpiJpeg,
  directory: TiffDirectory,
  { width, height, intervals }: { width: number; height: number; intervals: IntervalGrid },
): NdpiLevel {
  const readStarts = () => readIntervalStarts(directory, intervals.columns * intervals.rows);
  const readIntervals = intervalReader({ ...jpeg, width, height, grid: intervals }, readStarts);
  const intervalsAcross = Math.min(intervals.columns, Math.max(1, Math.round(TILE_SIDE / intervals.width)));
  const intervalsDown = Math.min(intervals.rows, Math.max(1, Math.round(TILE_SIDE / intervals.height)));
  const tileGrid = {
    width,
    height,
    tileWidth: intervalsAcross * intervals.width,
    tileHeight: intervalsDown * intervals.height,
    columns: Math.ceil(intervals.columns / intervalsAcross),
    rows: Math.ceil(intervals.rows / intervalsDown),
  };
  return {
    grid: tileGrid,
    async readTile(column, row, signal) {
      checkTile(tileGrid, column, row);
      const area = {
        column: column * intervalsAcross,
        row: row * intervalsDown,
        columns: Math.min(intervalsAcross, intervals.columns - column * intervalsAcross),
        rows: Math.min(intervalsDown, intervals.rows - row * intervalsDown),
      };
      return {
        codec: 'jpeg',
        bytes: await readIntervals(area, signal),
        width: Math.min(tileGrid.tileWidth, width - column * tileGrid.tileWidth),
        height: Math.min(tileGrid.tileHeight, height - row * tileGrid.tileHeight),
      };
    },
  };
}

/**
 * Reads the offsets of the restart intervals: the tag McuStarts has the lower 32 bits, McuStartsHigh the upper ones.
 *
 * @returns null when the directory lists fewer offsets than the image has intervals; `intervalReader` then searches the JPEG for
 *   restart markers
 */
async function readIntervalStarts(directory: TiffDirectory, count: number): Promise<IntervalStarts | null> {
  if (directory.count(tag.McuStarts) < count) return null;
  const starts = await directory.table(tag.McuStarts, count);
  if (directory.count(tag.McuStartsHigh) < count) return starts;
  const upper32Bits = await directory.table(tag.McuStartsHigh, count);
  return Float64Array.from(starts, (lower32Bits, i) => (upper32Bits[i] as number) * 2 ** 32 + lower32Bits);
}

/** Opens an image as a single tile; returns null when it is too large for that. */
function openSingleTile(jpeg: NdpiJpeg, width: number, height: number): NdpiLevel | null {
  const { source, offset, byteCount, head, header, colour } = jpeg;
  const isTooLarge =
    width * height > SINGLE_TILE_LIMITS.pixels ||
    Math.max(width, height) > SINGLE_TILE_LIMITS.side ||
    byteCount > SINGLE_TILE_LIMITS.bytes;
  if (isTooLarge) return null;
  checkSide(header.width, width, SIDE_TOLERANCE);
  checkSide(header.height, height, SIDE_TOLERANCE);
  // The JPEG's size may differ from the directory's by `SIDE_TOLERANCE`; the decoded image has the JPEG's size.
  const size = { width: header.width, height: header.height };
  const grid = { ...size, tileWidth: size.width, tileHeight: size.height, columns: 1, rows: 1 };
  return {
    grid,
    async readTile(column, row, signal) {
      checkTile(grid, column, row);
      // The new head omits comments and thumbnails of the file, which may contain names of patients.
      const newHead = buildMinimalHead(head, size, colour);
      const scanBytes = byteCount - head.length;
      const bytes = new Uint8Array(newHead.length + scanBytes);
      await source.readInto(bytes, newHead.length, offset + head.length, scanBytes, signal);
      bytes.set(newHead);
      return { codec: 'jpeg', bytes, ...size };
    },
  };
}

/**
 * Compares a side in the JPEG frame header with the side in the directory, unless the side is too large for the header.
 *
 * @param tolerance allowed difference in pixels
 */
function checkSide(frameSide: number, directorySide: number, tolerance: number): void {
  if (directorySide > MAX_FRAME_SIDE) return;
  if (frameSide > 0 && Math.abs(frameSide - directorySide) <= tolerance) return;
  throw corruptError(`its width or height is ${frameSide} pixels, not ${directorySide}`);
}

function checkTile({ columns, rows }: { columns: number; rows: number }, column: number, row: number): void {
  const isInside = column >= 0 && column < columns && row >= 0 && row < rows;
  if (isInside && Number.isInteger(column) && Number.isInteger(row)) return;
  throw new SlideError('TILE_OUT_OF_RANGE', `There is no tile ${column}, ${row}`);
}
