/**
 * Reads the header and tile list of an .ets file, which holds the pixels of a VSI slide: tiles of one size, each listed
 * with its coordinates (column, row, focus, channel, resolution).
 *
 * Source: the structure as Bio-Formats (CellSensReader) and SlideIO (etsfile, vsistruct) read it, and as found in
 * _vsi-ets-test-jpg2k_/stack1/frame_t_0.ets; all numbers are little-endian.
 */
import type { ByteSource } from '../source/byte-source.ts';
import { corrupt, incomplete, limitExceeded, notSupported } from './errors.ts';
import { limits } from './limits.ts';

export type EtsCodec = 'samples' | 'jpeg' | 'jpeg2000' | 'png';

export interface EtsFile {
  readonly codec: EtsCodec;
  readonly samplesPerPixel: 1 | 3;
  readonly bits: 8 | 16;
  /** Sample order of uncompressed pixels. */
  readonly isBlueFirst: boolean;
  /** Pixels. */
  readonly tileWidth: number;
  readonly tileHeight: number;
  /** Colour of missing tiles: one value per sample. */
  readonly background: readonly number[];
  readonly tiles: EtsTiles;
}

/** The list of tiles. */
export interface EtsTiles {
  readonly count: number;
  /** Coordinates per tile: column, row, others and, with several resolutions, the resolution. */
  readonly dimensions: number;
  readonly hasResolutions: boolean;
  /** `dimensions` coordinates for each tile. */
  readonly coordinates: Int32Array;
  readonly offsets: Float64Array;
  readonly byteCounts: Uint32Array;
}

const HEADER_BYTES = 64;
const MORE_HEADER_BYTES = 156;
/** Bytes of the list of tiles that are in memory at once. */
const WINDOW_BYTES = 2 ** 20;

/** Source: SlideIO, Compression and ColorSpace. */
const codecs: Readonly<Record<number, EtsCodec>> = { 0: 'samples', 2: 'jpeg', 3: 'jpeg2000', 8: 'png' };
const unsupportedCodecs: Readonly<Record<number, string>> = { 5: 'lossless JPEG', 9: 'BMP' };
const unsupportedColours: Readonly<Record<number, string>> = { 2: 'a palette', 5: 'colours in HSV' };
const BGR = 4;
const UCHAR = 2;
const USHORT = 4;

/** @throws SlideError FILE_CORRUPT, FILE_TRUNCATED, LIMIT_EXCEEDED, FORMAT_NOT_SUPPORTED */
export async function readEtsFile(source: ByteSource): Promise<EtsFile> {
  if (source.size < HEADER_BYTES) throw incomplete('its .ets file ends inside its header');
  const header = viewOf(await source.read(0, HEADER_BYTES));
  if (textAt(header, 0) !== 'SIS') throw corrupt('its .ets file does not begin with "SIS"');
  const dimensions = header.getUint32(12, true);
  const moreAt = positionAt(header, 16, MORE_HEADER_BYTES, source.size);
  const more = viewOf(await source.read(moreAt, MORE_HEADER_BYTES));
  if (textAt(more, 0) !== 'ETS')
    throw corrupt('the second header of its .ets file does not begin with "ETS"');

  const format = readFormat(more);
  const hasResolutions = more.getUint32(152, true) !== 0;
  const least = hasResolutions ? 3 : 2;
  if (dimensions < least) throw corrupt(`its tiles have ${dimensions} coordinates`);
  if (dimensions > limits.dimensions) throw limitExceeded(`its tiles have ${dimensions} coordinates`);
  const count = header.getUint32(40, true);
  if (count === 0) throw corrupt('its .ets file has no tile');
  if (count > limits.tiles) throw limitExceeded(`its .ets file has ${count} tiles`);
  const listAt = positionAt(header, 32, count * entryBytes(dimensions), source.size);
  return { ...format, tiles: await readTiles(source, listAt, count, dimensions, hasResolutions) };
}

function readFormat(more: DataView): Omit<EtsFile, 'tiles'> {
  const number = (at: number) => more.getUint32(at, true);
  const [componentType, samplesPerPixel, colourSpace, compression] = [
    number(8),
    number(12),
    number(16),
    number(20),
  ];
  const codec = codecs[compression];
  if (!codec) throw notSupported(unsupportedCodecs[compression] ?? `compression ${compression}`);
  const unsupportedColour = unsupportedColours[colourSpace];
  if (unsupportedColour) throw notSupported(unsupportedColour);
  if (samplesPerPixel !== 1 && samplesPerPixel !== 3)
    throw notSupported(`${samplesPerPixel} samples a pixel`);
  if (componentType !== UCHAR && componentType !== USHORT)
    throw notSupported(`samples of the type ${componentType}`);
  const bits = componentType === UCHAR ? 8 : 16;
  if (bits === 16 && (samplesPerPixel === 3 || codec === 'jpeg' || codec === 'png')) {
    throw notSupported(`${samplesPerPixel} samples of 16 bits in ${codec}`);
  }
  const [tileWidth, tileHeight, depth] = [number(28), number(32), number(36)];
  if (tileWidth === 0 || tileHeight === 0)
    throw corrupt(`its tiles have ${tileWidth} × ${tileHeight} pixels`);
  if (Math.max(tileWidth, tileHeight) > limits.tileSide) {
    throw limitExceeded(`its tiles have ${tileWidth} × ${tileHeight} pixels`);
  }
  if (depth > 1) throw notSupported('tiles of several planes in depth');
  return {
    codec,
    samplesPerPixel,
    bits,
    isBlueFirst: colourSpace === BGR || number(148) === 1,
    tileWidth,
    tileHeight,
    background: Array.from({ length: samplesPerPixel }, (_, i) =>
      bits === 8 ? more.getUint8(108 + i) : more.getUint16(108 + 2 * i, true),
    ),
  };
}

async function readTiles(
  source: ByteSource,
  listAt: number,
  count: number,
  dimensions: number,
  hasResolutions: boolean,
): Promise<EtsTiles> {
  const bytesOfOne = entryBytes(dimensions);
  const coordinates = new Int32Array(count * dimensions);
  const offsets = new Float64Array(count);
  const byteCounts = new Uint32Array(count);
  const perWindow = Math.floor(WINDOW_BYTES / bytesOfOne);
  for (let first = 0; first < count; first += perWindow) {
    const entriesInWindow = Math.min(perWindow, count - first);
    const view = viewOf(await source.read(listAt + first * bytesOfOne, entriesInWindow * bytesOfOne));
    for (let i = 0; i < entriesInWindow; i++) {
      const at = i * bytesOfOne + 4;
      for (let k = 0; k < dimensions; k++) {
        coordinates[(first + i) * dimensions + k] = view.getInt32(at + 4 * k, true);
      }
      const offset = Number(view.getBigUint64(at + 4 * dimensions, true));
      const byteCount = view.getUint32(at + 4 * dimensions + 8, true);
      if (!Number.isSafeInteger(offset)) throw corrupt(`a tile has the offset ${offset}`);
      offsets[first + i] = offset;
      byteCounts[first + i] = byteCount;
    }
  }
  return { count, dimensions, hasResolutions, coordinates, offsets, byteCounts };
}

/** Bytes of an entry: four unused, the coordinates, offset, byte count, four unused. */
function entryBytes(dimensions: number): number {
  return 4 + 4 * dimensions + 16;
}

function positionAt(view: DataView, at: number, length: number, size: number): number {
  const position = Number(view.getBigUint64(at, true));
  if (!Number.isSafeInteger(position)) throw corrupt(`its .ets file has the invalid offset ${position}`);
  if (position + length > size) throw incomplete('its .ets file is truncated');
  return position;
}

function textAt(view: DataView, at: number): string {
  return String.fromCharCode(view.getUint8(at), view.getUint8(at + 1), view.getUint8(at + 2));
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
}
