/**
 * Reads the headers and the tile list of an .ets file, which holds the pixels of a VSI slide in tiles of one size. The list
 * states the coordinates of each tile (column, row, focus, channel, resolution).
 *
 * Source: the structure as Bio-Formats (CellSensReader) and SlideIO (etsfile, vsistruct) read it, and as found in the
 * test file _vsi-ets-test-jpg2k_/stack1/frame_t_0.ets; all numbers are little-endian.
 */
import type { ByteSource } from '../source/byte-source.ts';
import { corruptError, incompleteError, limitExceededError, notSupportedError } from './errors.ts';
import { limits } from './limits.ts';

/** Encoding of the tiles; `samples` are uncompressed. */
export type EtsCodec = 'samples' | 'jpeg' | 'jpeg2000' | 'png';

export interface EtsFile {
  readonly codec: EtsCodec;
  readonly samplesPerPixel: 1 | 3;
  readonly bits: 8 | 16;
  /** Whether the samples of an uncompressed pixel are in the order blue, green, red. */
  readonly isBlueFirst: boolean;
  /** Pixels. */
  readonly tileWidth: number;
  readonly tileHeight: number;
  /** Colour of missing tiles: one value per sample. */
  readonly background: readonly number[];
  readonly tiles: EtsTiles;
}

/** The list of tiles, as one array per property because a file may have a million tiles. */
export interface EtsTiles {
  readonly count: number;
  /** Number of coordinates per tile: column, row, others (focus, channel, …) and, if `hasResolutions`, the resolution. */
  readonly dimensions: number;
  readonly hasResolutions: boolean;
  /** The coordinates of all tiles, `dimensions` values for each. */
  readonly coordinates: Int32Array;
  readonly offsets: Float64Array;
  readonly byteCounts: Uint32Array;
}

/** An .ets file begins with the header "SIS", which has the offset of a second header "ETS". */
const SIS_HEADER_BYTES = 64;
const ETS_HEADER_BYTES = 156;
/** Byte positions of the fields that are read: `sisField` in the first header, the others in the second one. */
const sisField = { dimensions: 12, etsHeader: 16, tileList: 32, tileCount: 40 } as const;
const sampleField = { type: 8, perPixel: 12, colourSpace: 16, compression: 20, order: 148 } as const;
const tileField = { width: 28, height: 32, depth: 36, background: 108, hasResolutions: 152 } as const;
/** Bytes of the list of tiles that are in memory at once. */
const WINDOW_BYTES = 2 ** 20;

/** Codes of compressions, colour spaces, sample orders and sample types. Source: SlideIO, Compression and ColorSpace. */
const codecs: Readonly<Record<number, EtsCodec>> = { 0: 'samples', 2: 'jpeg', 3: 'jpeg2000', 8: 'png' };
const unsupportedCodecs: Readonly<Record<number, string>> = { 5: 'lossless JPEG', 9: 'BMP' };
const unsupportedColours: Readonly<Record<number, string>> = { 2: 'a palette', 5: 'colours in HSV' };
const COLOUR_SPACE_BGR = 4;
const BLUE_FIRST = 1;
const UNSIGNED_8_BITS = 2;
const UNSIGNED_16_BITS = 4;

/**
 * Reads both headers and the list of tiles.
 *
 * @throws SlideError FILE_CORRUPT, FILE_TRUNCATED, LIMIT_EXCEEDED, FORMAT_NOT_SUPPORTED
 */
export async function readEtsFile(source: ByteSource): Promise<EtsFile> {
  if (source.size < SIS_HEADER_BYTES) throw incompleteError('its .ets file ends inside its header');
  const sisHeader = dataViewOf(await source.read(0, SIS_HEADER_BYTES));
  if (readThreeLetters(sisHeader) !== 'SIS') throw corruptError('its .ets file does not begin with "SIS"');
  const dimensions = sisHeader.getUint32(sisField.dimensions, true);
  const etsHeaderOffset = readOffset(sisHeader, sisField.etsHeader, ETS_HEADER_BYTES, source.size);
  const etsHeader = dataViewOf(await source.read(etsHeaderOffset, ETS_HEADER_BYTES));
  if (readThreeLetters(etsHeader) !== 'ETS')
    throw corruptError('the second header of its .ets file does not begin with "ETS"');

  const pixelFormat = readPixelFormat(etsHeader);
  const hasResolutions = etsHeader.getUint32(tileField.hasResolutions, true) !== 0;
  const minDimensions = hasResolutions ? 3 : 2;
  if (dimensions < minDimensions) throw corruptError(`its tiles have ${dimensions} coordinates`);
  if (dimensions > limits.dimensions) throw limitExceededError(`its tiles have ${dimensions} coordinates`);
  const count = sisHeader.getUint32(sisField.tileCount, true);
  if (count === 0) throw corruptError('its .ets file has no tile');
  if (count > limits.tiles) throw limitExceededError(`its .ets file has ${count} tiles`);
  const listOffset = readOffset(sisHeader, sisField.tileList, count * entryBytes(dimensions), source.size);
  return { ...pixelFormat, tiles: await readTiles(source, listOffset, count, dimensions, hasResolutions) };
}

/** Reads codec, samples, tile size and background from the second header. */
function readPixelFormat(etsHeader: DataView): Omit<EtsFile, 'tiles'> {
  const uint32At = (position: number) => etsHeader.getUint32(position, true);
  const sampleType = uint32At(sampleField.type);
  const samplesPerPixel = uint32At(sampleField.perPixel);
  const colourSpace = uint32At(sampleField.colourSpace);
  const compression = uint32At(sampleField.compression);
  const sampleOrder = uint32At(sampleField.order);
  const codec = codecs[compression];
  if (!codec) throw notSupportedError(unsupportedCodecs[compression] ?? `compression ${compression}`);
  const unsupportedColour = unsupportedColours[colourSpace];
  if (unsupportedColour) throw notSupportedError(unsupportedColour);
  if (samplesPerPixel !== 1 && samplesPerPixel !== 3)
    throw notSupportedError(`${samplesPerPixel} samples a pixel`);
  if (sampleType !== UNSIGNED_8_BITS && sampleType !== UNSIGNED_16_BITS)
    throw notSupportedError(`samples of the type ${sampleType}`);
  const bits = sampleType === UNSIGNED_8_BITS ? 8 : 16;
  if (bits === 16 && (samplesPerPixel === 3 || codec === 'jpeg' || codec === 'png')) {
    throw notSupportedError(`${samplesPerPixel} samples of 16 bits in ${codec}`);
  }
  const tileWidth = uint32At(tileField.width);
  const tileHeight = uint32At(tileField.height);
  const tileDepth = uint32At(tileField.depth);
  if (tileWidth === 0 || tileHeight === 0)
    throw corruptError(`its tiles have ${tileWidth} × ${tileHeight} pixels`);
  if (Math.max(tileWidth, tileHeight) > limits.tileSide) {
    throw limitExceededError(`its tiles have ${tileWidth} × ${tileHeight} pixels`);
  }
  if (tileDepth > 1) throw notSupportedError('tiles of several planes in depth');
  return {
    codec,
    samplesPerPixel,
    bits,
    isBlueFirst: colourSpace === COLOUR_SPACE_BGR || sampleOrder === BLUE_FIRST,
    tileWidth,
    tileHeight,
    background: Array.from({ length: samplesPerPixel }, (_, i) =>
      bits === 8
        ? etsHeader.getUint8(tileField.background + i)
        : etsHeader.getUint16(tileField.background + 2 * i, true),
    ),
  };
}

/** Reads the list of tiles, `WINDOW_BYTES` at a time. */
async function readTiles(
  source: ByteSource,
  listOffset: number,
  count: number,
  dimensions: number,
  hasResolutions: boolean,
): Promise<EtsTiles> {
  const bytesPerEntry = entryBytes(dimensions);
  const coordinates = new Int32Array(count * dimensions);
  const offsets = new Float64Array(count);
  const byteCounts = new Uint32Array(count);
  const entriesPerWindow = Math.floor(WINDOW_BYTES / bytesPerEntry);
  for (let first = 0; first < count; first += entriesPerWindow) {
    const entriesInWindow = Math.min(entriesPerWindow, count - first);
    const windowOffset = listOffset + first * bytesPerEntry;
    const view = dataViewOf(await source.read(windowOffset, entriesInWindow * bytesPerEntry));
    for (let i = 0; i < entriesInWindow; i++) {
      const tileIndex = first + i;
      const coordinatesStart = i * bytesPerEntry + 4;
      for (let k = 0; k < dimensions; k++) {
        coordinates[tileIndex * dimensions + k] = view.getInt32(coordinatesStart + 4 * k, true);
      }
      const coordinatesEnd = coordinatesStart + 4 * dimensions;
      const offset = Number(view.getBigUint64(coordinatesEnd, true));
      if (!Number.isSafeInteger(offset)) throw corruptError(`a tile has the offset ${offset}`);
      offsets[tileIndex] = offset;
      byteCounts[tileIndex] = view.getUint32(coordinatesEnd + 8, true);
    }
  }
  return { count, dimensions, hasResolutions, coordinates, offsets, byteCounts };
}

/**
 * Returns the length of an entry in the list of tiles: 4 unused bytes, 4 for each coordinate, 8 for the offset, 4 for the
 * byte count, 4 unused.
 */
function entryBytes(dimensions: number): number {
  return 4 + 4 * dimensions + 16;
}

/** Reads the 8-byte offset of a structure, and checks that its `length` bytes are inside the file. */
function readOffset(view: DataView, position: number, length: number, fileSize: number): number {
  const offset = Number(view.getBigUint64(position, true));
  if (!Number.isSafeInteger(offset)) throw corruptError(`its .ets file has the invalid offset ${offset}`);
  if (offset + length > fileSize) throw incompleteError('its .ets file is truncated');
  return offset;
}

function readThreeLetters(view: DataView): string {
  return String.fromCharCode(view.getUint8(0), view.getUint8(1), view.getUint8(2));
}

function dataViewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
}
