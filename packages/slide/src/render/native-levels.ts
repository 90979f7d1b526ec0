/**
 * Finds the native levels of a slide, and reads their tiles. The tiles of a native level are stored as JPEG or JPEG 2000, in a
 * form that DICOMweb can send without decoding.
 */
import { blankJpeg } from '../decode/encode-jpeg.ts';
import { readJpeg2000Header } from '../decode/jpeg2000-header.ts';
import { corruptError, marker, readJpegHeader, segments } from '../jpeg/header.ts';
import { padJpeg } from '../jpeg/pad-jpeg.ts';
import {
  type BufferAllocator,
  type EncodedImage,
  type Level,
  type Slide,
  SlideError,
} from '../model/slide.ts';

/** How tiles are encoded. */
interface TileCoding {
  readonly codec: 'jpeg' | 'jpeg2000';
  /** The JPEG process (`baseline` or `extended`), or the wavelet of JPEG 2000: lossless (`reversible`) or lossy. */
  readonly process: 'baseline' | 'extended' | 'reversible' | 'irreversible';
  /**
   * `ycc-422` is YCbCr with colour at any reduced resolution, also 4:2:0; DICOM names all of them YBR_FULL_422. `rct` and
   * `ict` are RGB after the reversible or irreversible colour transformation of JPEG 2000.
   */
  readonly colour: 'grey' | 'rgb' | 'ycc' | 'ycc-422' | 'rct' | 'ict';
}

/**
 * A level whose tiles can be sent without decoding. Sizes are in pixels; `downsample` is relative to full resolution. All tiles
 * have the full size: a JPEG that the file cuts off at the edge of the level is padded by repeating its restart intervals.
 */
export interface NativeLevel extends TileCoding {
  /** Index in `slide.levels`. */
  readonly level: number;
  readonly width: number;
  readonly height: number;
  readonly tileWidth: number;
  readonly tileHeight: number;
  readonly columns: number;
  readonly rows: number;
  readonly downsample: number;
}

/** The coding of rendered tiles and of blank tiles, which this package encodes. */
export const renderedTileCoding: TileCoding = { codec: 'jpeg', process: 'baseline', colour: 'ycc' };

/** A tile with the coding of its bytes. */
interface CodedTile {
  readonly bytes: Uint8Array;
  /** The level of the tile, but with the coding of this tile instead of the level's coding. */
  readonly level: NativeLevel;
}

/** Maximum number of tiles of a level that are tried until one is not empty. Trying an empty tile reads nothing from the file. */
const MAX_PROBES = 10_000;

/** Returns the native levels of a slide. @throws SlideError the errors of `Slide.readTile` except those of `EXCLUDING_CODES` */
export async function findNativeLevels(slide: Slide): Promise<readonly NativeLevel[]> {
  const levels: NativeLevel[] = [];
  for (const [level, slideLevel] of slide.levels.entries()) {
    const coding = await codingOf(slide, level, slideLevel);
    if (coding === null) continue;
    const { width, height, tileWidth, tileHeight, columns, rows, downsample } = slideLevel;
    levels.push({ ...coding, level, width, height, tileWidth, tileHeight, columns, rows, downsample });
  }
  return levels;
}

/**
 * Reads a tile of a native level without decoding it. A tile that the file does not contain is either empty or a gap,
 * depending on the level (`Level.hasGaps`). An empty tile shows the background of the slide: the function returns a JPEG of that
 * colour, also for a JPEG 2000 level. A gap shows tissue that only levels of higher resolution contain: the function returns null.
 *
 * @param index number of the tile in its level, from 0, row by row
 * @param allocate returns the memory that the tile is read into (see `Slide.readTile`)
 * @returns null for a gap, which the caller must render from a level of higher resolution
 * @throws SlideError TILE_OUT_OF_RANGE; FILE_CORRUPT for a tile that cannot be padded; errors of `Slide.readTile`
 */
export async function readNativeLevelTile(
  slide: Slide,
  level: NativeLevel,
  index: number,
  signal?: AbortSignal,
  allocate?: BufferAllocator,
): Promise<CodedTile | null> {
  const { level: levelIndex, columns, rows, tileWidth, tileHeight } = level;
  if (!Number.isInteger(index) || index < 0 || index >= columns * rows) {
    throw new SlideError('TILE_OUT_OF_RANGE', `There is no tile ${index} of level ${levelIndex}`);
  }
  const address = { level: levelIndex, column: index % columns, row: Math.floor(index / columns) };
  const tile = await slide.readTile(address, signal, allocate);
  if (tile !== null) {
    const padded = atFullSize(tile, level);
    if (padded === null) throw corruptError('its restart intervals cannot be repeated to pad it');
    return { bytes: padded.bytes, level };
  }
  if (slide.levels[levelIndex]?.hasGaps) return null;
  const bytes = await blankJpeg(tileWidth, tileHeight, slide.background);
  return { bytes, level: { ...level, ...renderedTileCoding } };
}

/** Errors after which a level does not count as native. All other errors are thrown to the caller. */
const EXCLUDING_CODES: ReadonlySet<SlideError['code']> = new Set([
  'FORMAT_NOT_SUPPORTED',
  'FILE_CORRUPT',
  'FILE_TRUNCATED',
  'LIMIT_EXCEEDED',
]);

/**
 * Returns the coding of a level, read from a tile that is not empty; null when the level is not native. The function assumes
 * that all tiles of a level have the same coding.
 */
async function codingOf(slide: Slide, level: number, slideLevel: Level): Promise<TileCoding | null> {
  const { columns, rows, tileWidth, tileHeight, leadingPadding } = slideLevel;
  // The tiles of a rotated level may have padding on the left or top, which DICOM cannot express.
  if (leadingPadding) return null;
  try {
    const tile = await anyTile(slide, level, slideLevel);
    // The bottom right tile shows whether the tiles on the edges have the full size, in the file or after padding. Both the size
    // that `atFullSize` returns and the header of the encoded bytes (`isOfSize`) must be that size.
    const last = await slide.readTile({ level, column: columns - 1, row: rows - 1 });
    const [padded, paddedLast] = [tile, last].map((image) => image && atFullSize(image, slideLevel));
    if (!tile || !padded || (last && !paddedLast)) return null;
    if (paddedLast && !isOfSize(paddedLast, tileWidth, tileHeight)) return null;
    if (tile.codec === 'jpeg') return jpegCoding(tile.bytes);
    return tile.codec === 'jpeg2000' ? jpeg2000Coding(tile) : null;
  } catch (error) {
    if (error instanceof SlideError && EXCLUDING_CODES.has(error.code)) return null;
    throw error;
  }
}

/**
 * Returns a tile with the full size of the level's tiles. A JPEG that is cut off at the edge of the level is padded.
 *
 * @returns null for a tile that cannot be padded without decoding it, and for one that must be rotated
 * @throws SlideError FILE_CORRUPT
 */
function atFullSize(
  tile: EncodedImage,
  { tileWidth, tileHeight }: Pick<Level, 'tileWidth' | 'tileHeight'>,
): EncodedImage | null {
  if (tile.orientation) return null;
  if (tile.width === tileWidth && tile.height === tileHeight) return tile;
  if (tile.codec !== 'jpeg' || tile.width > tileWidth || tile.height > tileHeight) return null;
  const bytes = padJpeg(tile.bytes, tileWidth, tileHeight);
  return bytes && { ...tile, bytes, width: tileWidth, height: tileHeight };
}

/** Reads a tile that is not empty. @returns null when `MAX_PROBES` tiles, spread over the level, are empty */
async function anyTile(slide: Slide, level: number, { columns, rows }: Level): Promise<EncodedImage | null> {
  for (const index of spreadIndices(columns, rows)) {
    const tile = await slide.readTile({ level, column: index % columns, row: Math.floor(index / columns) });
    if (tile !== null) return tile;
  }
  return null;
}

/**
 * Yields indices of tiles, at most `MAX_PROBES`: first the centre of the level, then tiles far from all earlier ones. Scanners omit tiles
 * without tissue, so all tiles at the top of a level may be empty.
 */
function* spreadIndices(columns: number, rows: number): Generator<number> {
  const count = columns * rows;
  let step = Math.max(1, Math.round(count * 0.618)); // with the golden ratio, successive indices are spread evenly
  while (greatestCommonDivisor(step, count) !== 1) step++; // otherwise some indices would never be reached
  let index = Math.floor(rows / 2) * columns + Math.floor(columns / 2);
  for (let probes = 0; probes < Math.min(MAX_PROBES, count); probes++) {
    yield index;
    index = (index + step) % count;
  }
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}

/** Whether the header of a tile states this size; false for other codecs than JPEG and JPEG 2000. */
function isOfSize({ codec, bytes }: EncodedImage, width: number, height: number): boolean {
  if (codec !== 'jpeg' && codec !== 'jpeg2000') return false;
  const header = codec === 'jpeg' ? readJpegHeader(bytes) : readJpeg2000Header(bytes);
  return header.width === width && header.height === height;
}

/** Frame markers SOF0 and SOF1. Source: ITU-T T.81, table B.1. */
const [BASELINE, EXTENDED] = [0xc0, 0xc1];

/** Returns the coding of a JPEG tile; null when DICOMweb cannot send it without decoding. */
function jpegCoding(bytes: Uint8Array): TileCoding | null {
  const { frameMarker, precision, components } = readJpegHeader(bytes);
  if (precision !== 8 || (frameMarker !== BASELINE && frameMarker !== EXTENDED)) return null;
  const process = frameMarker === BASELINE ? 'baseline' : 'extended';
  if (components.length === 1) return { codec: 'jpeg', process, colour: 'grey' };
  if (components.length !== 3) return null;
  const componentIds = components.map(({ id }) => id);
  if (isRgb(bytes, componentIds)) return { codec: 'jpeg', process, colour: 'rgb' };
  const [luma, chroma] = components;
  const isFullChroma =
    luma?.horizontalSampling === chroma?.horizontalSampling &&
    luma?.verticalSampling === chroma?.verticalSampling;
  return { codec: 'jpeg', process, colour: isFullChroma ? 'ycc' : 'ycc-422' };
}

/**
 * Whether a JPEG of three components is RGB: its Adobe segment declares transform 0, or it has no JFIF and no Adobe segment
 * and its component identifiers are the letters R, G, B. Source: libjpeg, jdapimin.c (default_decompress_parms).
 */
function isRgb(jpeg: Uint8Array, componentIds: readonly number[]): boolean {
  let isJfif = false;
  for (const segment of segments(jpeg)) {
    const name = Buffer.from(jpeg.subarray(segment.bodyAt, segment.bodyAt + 5)).toString('latin1');
    if (segment.marker === marker.APP0 && name === 'JFIF\0') isJfif = true;
    // The transform is the last byte of the Adobe segment.
    if (segment.marker === marker.APP14 && name === 'Adobe') return jpeg[segment.bodyAt + 11] === 0;
  }
  return !isJfif && String.fromCharCode(...componentIds) === 'RGB';
}

/** The marker of the coding style segment, and the value of its field for the reversible wavelet. */
const [COD, REVERSIBLE] = [0xff52, 1];

/** Returns the coding of a JPEG 2000 tile; null when DICOMweb cannot send it without decoding. */
function jpeg2000Coding({ bytes, colour }: EncodedImage): TileCoding | null {
  const header = readJpeg2000Header(bytes);
  const { codeStream, components, bits, isSigned, isTransformed, isSubsampled } = header;
  if (bits !== 8 || isSigned || (components !== 1 && components !== 3)) return null;
  const isReversible = transformOf(codeStream) === REVERSIBLE;
  const process = isReversible ? 'reversible' : 'irreversible';
  // Inverted grey, and grey in a window of values, would need attributes that `TileCoding` lacks.
  const isPlainGrey = typeof colour !== 'object' || (colour.black === 0 && colour.white === 255);
  if (components === 1) return isPlainGrey ? { codec: 'jpeg2000', process, colour: 'grey' } : null;
  if (colour === 'ycc-of-openjpeg' && header.isByOpenJpeg) return null; // YCbCr that is declared as RGB, perhaps with a colour transform
  if (isSubsampled) return { codec: 'jpeg2000', process, colour: 'ycc-422' };
  if (isTransformed) return { codec: 'jpeg2000', process, colour: isReversible ? 'rct' : 'ict' };
  return { codec: 'jpeg2000', process, colour: colour === 'ycc' ? 'ycc' : 'rgb' };
}

/**
 * Returns the wavelet transformation, which is at byte 13 of the COD segment; undefined without such a segment. The caller has
 * checked the header. Source: ITU-T T.800, tables A.12 to A.20.
 */
function transformOf(codeStream: Uint8Array): number | undefined {
  const view = new DataView(codeStream.buffer, codeStream.byteOffset, codeStream.byteLength);
  for (let offset = 2; offset + 4 <= view.byteLength; offset += 2 + view.getUint16(offset + 2)) {
    if (view.getUint16(offset) === COD) return codeStream[offset + 13];
  }
  return undefined;
}
