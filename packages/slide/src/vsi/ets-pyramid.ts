/** The levels and tiles of an .ets file, which holds the pixels of a VSI slide. */
import { type Channel, composeChannels, defaultChannelColour } from '../decode/compose-channels.ts';
import { decodeBrightness } from '../decode/decode-brightness.ts';
import { decodeImage } from '../decode/decode-image.ts';
import type { Colour, Raster } from '../decode/raster.ts';
import { completeJpeg, jpegPrefix, tileOffset } from '../jpeg/complete-jpeg.ts';
import { shownPlaneOf } from '../model/shown-plane.ts';
import { type EncodedImage, type GreyRange, type Level, type Slide, SlideError } from '../model/slide.ts';
import type { ByteSource } from '../source/byte-source.ts';
import { corruptError, incompleteError, limitExceededError, notSupportedError } from './errors.ts';
import type { EtsFile } from './ets-file.ts';
import { limits } from './limits.ts';
import type { Stack } from './stacks.ts';

export type EtsPyramid = Pick<Slide, 'levels' | 'background' | 'readTile' | 'shownPlane'>;

/** The tiles of one resolution. */
interface Grid {
  /** 0 is full resolution; each following number halves width and height. */
  readonly resolution: number;
  readonly columns: number;
  readonly rows: number;
  /** For each channel, row by row: the index of the tile in the list of the file; −1 for a missing tile. */
  readonly tilesByChannel: ReadonlyMap<number, Int32Array>;
}

interface Size {
  readonly width: number;
  readonly height: number;
}

const BLACK: Colour = { r: 0, g: 0, b: 0 };
/** Index of the first coordinate of a tile after its column and row. */
const FIRST_OTHER_COORDINATE = 2;
/** SOF2, the JPEG frame marker of progressive Huffman coding. Higher frame markers mean lossless or arithmetic coding. */
const LAST_SUPPORTED_FRAME_MARKER = 0xc2;

/**
 * Opens the image of an .ets file at all its resolutions. Displays the middle focal plane, and the first position of other
 * dimensions such as time. Overlays all grey channels; if the pixels are colours, displays only the first channel.
 *
 * @throws SlideError FILE_CORRUPT, FILE_TRUNCATED, LIMIT_EXCEEDED, FORMAT_NOT_SUPPORTED
 */
export function openEtsPyramid(source: ByteSource, ets: EtsFile, stack: Stack): EtsPyramid {
  const size = stack.size ?? sizeOfAllTiles(ets);
  const grids = gridsOf(ets, size, stack);
  const [full] = grids;
  if (full?.resolution !== 0) throw corruptError('it has no tile at full resolution');
  const channels = [...full.tilesByChannel.keys()].sort((a, b) => a - b);
  const [firstChannel = 0] = channels;
  const isComposed = ets.samplesPerPixel === 1 && channels.length > 1; // several grey channels are overlaid
  if (isComposed && channels.length > limits.channels) throw notSupportedError(`${channels.length} channels`);
  const pixelsPerTile = ets.tileWidth * ets.tileHeight * (isComposed ? channels.length : 1);
  if (pixelsPerTile > limits.tilePixels) throw limitExceededError(`a tile has ${pixelsPerTile} pixels`);

  const needsRendering = isComposed || ets.codec !== 'jpeg';
  const levels = grids.map((grid) => levelOf(grid, size, ets, needsRendering)) as [Level, ...Level[]];
  const fullRange: GreyRange = { black: 0, white: 2 ** ets.bits - 1 };
  const usesDeclaredRange = isComposed || ets.bits === 16; // other images of 8 bits are displayed as stored
  const rangeOf = (channel: number): GreyRange =>
    (usesDeclaredRange ? stack.channels.get(channel)?.range : null) ?? fullRange;
  const readTileByIndex = createTileReader(source, ets);

  return {
    levels,
    ...shownPlaneOf({ ...focalPlanesOf(ets, stack.focusDimension), times: 1 }), // time points are not counted
    background: isComposed ? BLACK : backgroundOf(ets),
    async readTile({ level, column, row }, signal) {
      const grid = grids[level];
      const isInside = grid && column >= 0 && column < grid.columns && row >= 0 && row < grid.rows;
      if (!isInside || !Number.isInteger(column) || !Number.isInteger(row)) {
        throw new SlideError('TILE_OUT_OF_RANGE', `There is no tile ${column}, ${row} of level ${level}`);
      }
      const tileIndexOf = (channel: number) =>
        grid.tilesByChannel.get(channel)?.[row * grid.columns + column] ?? -1;
      if (!isComposed) return readTileByIndex(tileIndexOf(firstChannel), rangeOf(firstChannel), signal);

      const decodedChannels: Channel[] = [];
      for (const [i, channel] of channels.entries()) {
        const image = await readTileByIndex(tileIndexOf(channel), rangeOf(channel), signal);
        if (!image) continue;
        const brightness = await decodeChannel(image, rangeOf(channel));
        const colour = stack.channels.get(channel)?.colour ?? defaultChannelColour(i);
        decodedChannels.push({ brightness, colour });
      }
      const [firstDecoded, ...otherDecoded] = decodedChannels;
      if (!firstDecoded) return null;
      const { width, height, rgb } = composeChannels([firstDecoded, ...otherDecoded]);
      return { codec: 'rgb', bytes: rgb, width, height };
    },
  };
}

/** Decodes a grey tile and scales it so that the range becomes black to white. */
function decodeChannel(image: EncodedImage, range: GreyRange): Promise<Raster> {
  // Uncompressed and JPEG 2000 tiles carry the range in `colour`, which decodeImage applies.
  return image.colour === undefined ? decodeBrightness(image, range) : decodeImage(image);
}

/** Returns the size that all tiles at full resolution cover, for files whose metadata state no size. */
function sizeOfAllTiles({ tiles, tileWidth, tileHeight }: EtsFile): Size {
  let [columns, rows] = [0, 0];
  for (let i = 0; i < tiles.count; i++) {
    const start = i * tiles.dimensions;
    if (tiles.hasResolutions && tiles.coordinates[start + tiles.dimensions - 1] !== 0) continue;
    columns = Math.max(columns, (tiles.coordinates[start] as number) + 1);
    rows = Math.max(rows, (tiles.coordinates[start + 1] as number) + 1);
  }
  return { width: columns * tileWidth, height: rows * tileHeight };
}

/** Returns the resolutions that have tiles, largest first. */
function gridsOf(ets: EtsFile, size: Size, stack: Stack): readonly Grid[] {
  const { tiles, tileWidth, tileHeight } = ets;
  const { coordinates, dimensions } = tiles;
  if (size.width < 1 || size.height < 1) throw corruptError(`it has ${size.width} × ${size.height} pixels`);
  if (Math.max(size.width, size.height) > limits.imageSide) {
    throw limitExceededError(`it has ${size.width} × ${size.height} pixels`);
  }
  const positionDimensions = positionDimensionsOf(ets);
  const channelIndex = coordinateIndexOf(stack.channelDimension, positionDimensions);
  const displayedCoordinates = displayedCoordinatesOf(ets, positionDimensions, stack.focusDimension);

  const grids = new Map<number, Grid & { readonly tilesByChannel: Map<number, Int32Array> }>();
  let allocatedCells = 0;
  for (let i = 0; i < tiles.count; i++) {
    const start = i * dimensions;
    if (!isDisplayed(coordinates, start, positionDimensions, channelIndex, displayedCoordinates)) continue;
    const resolution = tiles.hasResolutions ? (coordinates[start + dimensions - 1] as number) : 0;
    if (resolution < 0) throw corruptError(`a tile has the resolution ${resolution}`);
    if (resolution >= limits.levels) throw limitExceededError(`it has ${resolution + 1} resolutions`);
    const column = coordinates[start] as number;
    const row = coordinates[start + 1] as number;
    const grid = grids.get(resolution) ?? {
      resolution,
      columns: Math.ceil(Math.ceil(size.width / 2 ** resolution) / tileWidth),
      rows: Math.ceil(Math.ceil(size.height / 2 ** resolution) / tileHeight),
      tilesByChannel: new Map<number, Int32Array>(),
    };
    grids.set(resolution, grid);
    if (column < 0 || column >= grid.columns || row < 0 || row >= grid.rows) {
      throw corruptError(`a tile is at ${column}, ${row} of ${grid.columns} × ${grid.rows}`);
    }
    const channel = channelIndex === null ? 0 : (coordinates[start + channelIndex] as number);
    let tileIndices = grid.tilesByChannel.get(channel);
    if (!tileIndices) {
      allocatedCells += grid.columns * grid.rows;
      if (allocatedCells > limits.gridCells)
        throw limitExceededError(`it has positions for more than ${limits.gridCells} tiles`);
      tileIndices = new Int32Array(grid.columns * grid.rows).fill(-1);
      grid.tilesByChannel.set(channel, tileIndices);
    }
    const cell = row * grid.columns + column;
    // If the file lists two tiles at the same position, the first is used.
    if (tileIndices[cell] === -1) tileIndices[cell] = i;
  }
  return [...grids.values()].sort((a, b) => a.resolution - b.resolution);
}

/** Returns the number of coordinates per tile without the resolution, which is the last coordinate. */
function positionDimensionsOf({ tiles }: EtsFile): number {
  return tiles.hasResolutions ? tiles.dimensions - 1 : tiles.dimensions;
}

/**
 * Returns the index of a dimension among the coordinates of a tile; null when the tiles do not have it.
 *
 * @param dimension number of the dimension, counted from the first one after column and row
 */
function coordinateIndexOf(dimension: number | null, positionDimensions: number): number | null {
  if (dimension === null) return null;
  const index = dimension + FIRST_OTHER_COORDINATE;
  return index < positionDimensions ? index : null;
}

/** Counts the focal planes. `plane` is the number of the displayed plane, the middle one, from 1. */
function focalPlanesOf(ets: EtsFile, focusDimension: number | null): { plane: number; planes: number } {
  const focusIndex = coordinateIndexOf(focusDimension, positionDimensionsOf(ets));
  const planes = focusIndex === null ? 1 : distinctCoordinates(ets, focusIndex).length;
  return { plane: (planes >> 1) + 1, planes };
}

/** Returns the distinct values that the tiles have for a coordinate, in ascending order. */
function distinctCoordinates({ tiles }: EtsFile, coordinateIndex: number): readonly number[] {
  const values = new Set<number>();
  for (let i = 0; i < tiles.count; i++)
    values.add(tiles.coordinates[i * tiles.dimensions + coordinateIndex] as number);
  return [...values].sort((a, b) => a - b);
}

/**
 * Returns the displayed value of each coordinate: the middle focal plane, because the first ones are often blurred, and
 * the first value of other dimensions. The values for column and row are not used.
 */
function displayedCoordinatesOf(
  ets: EtsFile,
  positionDimensions: number,
  focusDimension: number | null,
): readonly number[] {
  const focusIndex = coordinateIndexOf(focusDimension, positionDimensions);
  return Array.from({ length: positionDimensions }, (_, k) => {
    if (k < FIRST_OTHER_COORDINATE) return 0;
    const values = distinctCoordinates(ets, k);
    return values[k === focusIndex ? values.length >> 1 : 0] ?? 0;
  });
}

/** Returns whether a tile has the displayed value of every coordinate except column, row and channel. */
function isDisplayed(
  coordinates: Int32Array,
  start: number,
  positionDimensions: number,
  channelIndex: number | null,
  displayedCoordinates: readonly number[],
): boolean {
  for (let k = FIRST_OTHER_COORDINATE; k < positionDimensions; k++) {
    if (k !== channelIndex && coordinates[start + k] !== displayedCoordinates[k]) return false;
  }
  return true;
}

function levelOf(
  { resolution, columns, rows }: Grid,
  full: Size,
  ets: EtsFile,
  needsRendering: boolean,
): Level {
  const { tileWidth, tileHeight } = ets;
  const downsample = 2 ** resolution;
  const width = Math.ceil(full.width / downsample);
  const height = Math.ceil(full.height / downsample);
  const level = { width, height, tileWidth, tileHeight, columns, rows, downsample };
  return { ...level, ...(needsRendering && { needsRendering }) };
}

function backgroundOf({ background, samplesPerPixel, bits }: EtsFile): Colour {
  if (bits === 16) return BLACK;
  const [r = 255, g = r, b = r] = background;
  return samplesPerPixel === 3 ? { r, g, b } : { r, g: r, b: r };
}

/** Reads a tile by its index in the list of the file; returns null for the index −1 and for an empty tile. */
type ReadTileByIndex = (
  tileIndex: number,
  range: GreyRange,
  signal?: AbortSignal,
) => Promise<EncodedImage | null>;

/** Returns a function that reads tiles by their index in the list of the file. */
function createTileReader(source: ByteSource, ets: EtsFile): ReadTileByIndex {
  const { codec, tileWidth: width, tileHeight: height, samplesPerPixel, bits, tiles } = ets;
  const noTables = null; // each tile has its own
  const prefix = jpegPrefix(noTables, samplesPerPixel === 3 ? 'ycbcr' : 'grey');
  // completeJpeg writes the prefix in front of the stored bytes.
  const prefixBytes = codec === 'jpeg' ? tileOffset(prefix) : 0;
  return async (tileIndex, range, signal) => {
    const byteCount = tiles.byteCounts[tileIndex] ?? 0;
    if (tileIndex < 0 || byteCount === 0) return null;
    const offset = tiles.offsets[tileIndex] as number;
    if (byteCount > limits.tileBytes) throw limitExceededError(`a tile has ${byteCount} bytes`);
    if (offset + byteCount > source.size) throw incompleteError('its .ets file ends inside a tile');
    const bytes = new Uint8Array(prefixBytes + byteCount);
    await source.readInto(bytes, prefixBytes, offset, byteCount, signal);
    switch (codec) {
      case 'jpeg': {
        const { jpeg, header } = completeJpeg(bytes, prefix);
        if (header.width !== width || header.height !== height) {
          throw corruptError(`a tile is ${header.width} × ${header.height} pixels, not ${width} × ${height}`);
        }
        if (header.frameMarker > LAST_SUPPORTED_FRAME_MARKER || header.precision !== 8) {
          throw notSupportedError('lossless, arithmetic or 12-bit JPEG');
        }
        if (header.components.length !== samplesPerPixel) {
          throw corruptError(`a tile has ${header.components.length} components`);
        }
        return { codec, bytes: jpeg, width, height };
      }
      case 'jpeg2000':
        return samplesPerPixel === 3
          ? { codec, bytes, width, height }
          : { codec, bytes, width, height, colour: range };
      case 'png':
        return { codec, bytes, width, height };
      case 'samples': {
        const expectedBytes = (width * height * samplesPerPixel * bits) / 8;
        if (byteCount < expectedBytes)
          throw corruptError(`a tile has ${byteCount} bytes, not ${expectedBytes}`);
        if (samplesPerPixel === 3) {
          const samples = bytes.subarray(0, expectedBytes);
          return { codec: 'rgb', bytes: ets.isBlueFirst ? swapRedAndBlue(samples) : samples, width, height };
        }
        const layout = { samplesPerPixel, bits, isPlanar: false } as const;
        return { codec, bytes, width, height, colour: range, layout };
      }
    }
  };
}

function swapRedAndBlue(bgr: Uint8Array): Uint8Array {
  const rgb = new Uint8Array(bgr.length);
  for (let i = 0; i < bgr.length; i += 3) {
    rgb[i] = bgr[i + 2] as number;
    rgb[i + 1] = bgr[i + 1] as number;
    rgb[i + 2] = bgr[i] as number;
  }
  return rgb;
}
