/** Opens the image of an .ets file as levels and tiles. */
import { type Channel, colourOfChannel, composeChannels } from '../decode/compose-channels.ts';
import { decodeBrightness } from '../decode/decode-brightness.ts';
import { decodeImage } from '../decode/decode-image.ts';
import type { Colour, Raster } from '../decode/raster.ts';
import { completeJpeg, jpegPrefix, streamPlace } from '../jpeg/complete-jpeg.ts';
import { shownPlaneOf } from '../model/shown-plane.ts';
import { type EncodedImage, type GreyRange, type Level, type Slide, SlideError } from '../model/slide.ts';
import type { ByteSource } from '../source/byte-source.ts';
import { corrupt, incomplete, limitExceeded, notSupported } from './errors.ts';
import type { EtsFile } from './ets-file.ts';
import { limits } from './limits.ts';
import type { Stack } from './stacks.ts';

export type EtsPyramid = Pick<Slide, 'levels' | 'background' | 'readTile' | 'shownPlane'>;

/** The tiles of one resolution. */
interface Grid {
  /** 0 is full resolution; each further one has half the size. */
  readonly resolution: number;
  readonly columns: number;
  readonly rows: number;
  /** By channel, row by row: index in the list of tiles; −1 for a missing tile. */
  readonly tiles: ReadonlyMap<number, Int32Array>;
}

interface Size {
  readonly width: number;
  readonly height: number;
}

const BLACK: Colour = { r: 0, g: 0, b: 0 };
/** Index of the first coordinate after column and row. */
const FIRST_OTHER_COORDINATE = 2;
const LAST_SEQUENTIAL_FRAME = 0xc2;

/**
 * Opens the image of an .ets file at all its resolutions. Displays the middle focal plane, the first time (and other
 * dimensions), and overlays grey channels.
 *
 * @throws SlideError FILE_CORRUPT, FILE_TRUNCATED, LIMIT_EXCEEDED, FORMAT_NOT_SUPPORTED
 */
export function openEtsPyramid(source: ByteSource, ets: EtsFile, stack: Stack): EtsPyramid {
  const size = stack.size ?? sizeOfGrid(ets);
  const grids = gridsOf(ets, size, stack);
  const [full] = grids;
  if (full?.resolution !== 0) throw corrupt('it has no tile at full resolution');
  const numbers = [...full.tiles.keys()].sort((one, other) => one - other);
  const [first = 0] = numbers;
  const isComposed = ets.samplesPerPixel === 1 && numbers.length > 1;
  if (isComposed && numbers.length > limits.channels) throw notSupported(`${numbers.length} channels`);
  const inMemory = ets.tileWidth * ets.tileHeight * (isComposed ? numbers.length : 1);
  if (inMemory > limits.tilePixels) throw limitExceeded(`a tile has ${inMemory} pixels`);

  const needsRendering = isComposed || ets.codec !== 'jpeg';
  const levels = grids.map((grid) => levelOf(grid, size, ets, needsRendering)) as [Level, ...Level[]];
  const rangeOf = (channel: number): GreyRange =>
    (isComposed || ets.bits === 16 ? stack.channels.get(channel)?.range : null) ?? {
      black: 0,
      white: 2 ** ets.bits - 1,
    };
  const readTileByIndex = tileReader(source, ets);

  return {
    levels,
    ...shownPlaneOf({ ...focalPlanesOf(ets, stack.focusDimension), times: 1 }),
    background: isComposed ? BLACK : backgroundOf(ets),
    async readTile({ level, column, row }, signal) {
      const grid = grids[level];
      const isInside = grid && column >= 0 && column < grid.columns && row >= 0 && row < grid.rows;
      if (!isInside || !Number.isInteger(column) || !Number.isInteger(row)) {
        throw new SlideError('TILE_OUT_OF_RANGE', `There is no tile ${column}, ${row} of level ${level}`);
      }
      const tileOf = (channel: number) => grid.tiles.get(channel)?.[row * grid.columns + column] ?? -1;
      if (!isComposed) return readTileByIndex(tileOf(first), rangeOf(first), signal);
      const parts: Channel[] = [];
      for (const [i, channel] of numbers.entries()) {
        const image = await readTileByIndex(tileOf(channel), rangeOf(channel), signal);
        if (!image) continue;
        const brightness = await brightnessOf(image, rangeOf(channel));
        parts.push({ brightness, colour: stack.channels.get(channel)?.colour ?? colourOfChannel(i) });
      }
      const [one, ...others] = parts;
      if (!one) return null;
      const { width, height, rgb } = composeChannels([one, ...others]);
      return { codec: 'rgb', bytes: rgb, width, height };
    },
  };
}

function brightnessOf(image: EncodedImage, range: GreyRange): Promise<Raster> {
  // Samples and JPEG 2000 carry their own range.
  return image.colour === undefined ? decodeBrightness(image, range) : decodeImage(image);
}

/** Returns the size of all tiles at full resolution, for files whose metadata state none. */
function sizeOfGrid({ tiles, tileWidth, tileHeight }: EtsFile): Size {
  let [columns, rows] = [0, 0];
  for (let i = 0; i < tiles.count; i++) {
    const at = i * tiles.dimensions;
    if (tiles.hasResolutions && tiles.coordinates[at + tiles.dimensions - 1] !== 0) continue;
    columns = Math.max(columns, (tiles.coordinates[at] as number) + 1);
    rows = Math.max(rows, (tiles.coordinates[at + 1] as number) + 1);
  }
  return { width: columns * tileWidth, height: rows * tileHeight };
}

/** Returns the resolutions, largest first; those without a tile are left out. */
function gridsOf(ets: EtsFile, size: Size, stack: Stack): readonly Grid[] {
  const { tiles, tileWidth, tileHeight } = ets;
  const { coordinates, dimensions } = tiles;
  if (size.width < 1 || size.height < 1) throw corrupt(`it has ${size.width} × ${size.height} pixels`);
  if (Math.max(size.width, size.height) > limits.imageSide) {
    throw limitExceeded(`it has ${size.width} × ${size.height} pixels`);
  }
  const others = tiles.hasResolutions ? dimensions - 1 : dimensions;
  const channelAt = coordinateIndexOf(stack.channelDimension, others);
  const displayed = displayedPositions(ets, others, stack.focusDimension);

  const grids = new Map<number, Grid & { readonly tiles: Map<number, Int32Array> }>();
  let places = 0;
  for (let i = 0; i < tiles.count; i++) {
    const at = i * dimensions;
    if (!isDisplayed(coordinates, at, others, channelAt, displayed)) continue;
    const resolution = tiles.hasResolutions ? (coordinates[at + dimensions - 1] as number) : 0;
    if (resolution < 0) throw corrupt(`a tile has the resolution ${resolution}`);
    if (resolution >= limits.levels) throw limitExceeded(`it has ${resolution + 1} resolutions`);
    const [column, row] = [coordinates[at] as number, coordinates[at + 1] as number];
    const known = grids.get(resolution);
    const grid = known ?? {
      resolution,
      columns: Math.ceil(Math.ceil(size.width / 2 ** resolution) / tileWidth),
      rows: Math.ceil(Math.ceil(size.height / 2 ** resolution) / tileHeight),
      tiles: new Map<number, Int32Array>(),
    };
    grids.set(resolution, grid);
    if (column < 0 || column >= grid.columns || row < 0 || row >= grid.rows) {
      throw corrupt(`a tile is at ${column}, ${row} of ${grid.columns} × ${grid.rows}`);
    }
    const channel = channelAt === null ? 0 : (coordinates[at + channelAt] as number);
    let numbers = grid.tiles.get(channel);
    if (!numbers) {
      places += grid.columns * grid.rows;
      if (places > limits.places)
        throw limitExceeded(`it has positions for more than ${limits.places} tiles`);
      numbers = new Int32Array(grid.columns * grid.rows).fill(-1);
      grid.tiles.set(channel, numbers);
    }
    const place = row * grid.columns + column;
    // Of two tiles at one position the first is used.
    if (numbers[place] === -1) numbers[place] = i;
  }
  return [...grids.values()].sort((one, other) => one.resolution - other.resolution);
}

/** Returns the index of a coordinate after column and row; null when the tiles do not have it. */
function coordinateIndexOf(dimension: number | null, others: number): number | null {
  return dimension !== null && dimension + FIRST_OTHER_COORDINATE < others
    ? dimension + FIRST_OTHER_COORDINATE
    : null;
}

/** Counts the focal planes; the displayed one is the middle. */
function focalPlanesOf(ets: EtsFile, focusDimension: number | null): { plane: number; planes: number } {
  const others = ets.tiles.hasResolutions ? ets.tiles.dimensions - 1 : ets.tiles.dimensions;
  const focusAt = coordinateIndexOf(focusDimension, others);
  const planes = focusAt === null ? 1 : positionsIn(ets, focusAt).length;
  return { plane: (planes >> 1) + 1, planes };
}

/** Returns the values of a coordinate of all tiles, sorted. */
function positionsIn({ tiles }: EtsFile, coordinate: number): readonly number[] {
  const all = new Set<number>();
  for (let i = 0; i < tiles.count; i++)
    all.add(tiles.coordinates[i * tiles.dimensions + coordinate] as number);
  return [...all].sort((one, other) => one - other);
}

/** Returns the displayed position in each dimension: the middle focal plane, because the first are often blurred, else the first. */
function displayedPositions(ets: EtsFile, others: number, focusDimension: number | null): readonly number[] {
  const focusAt = coordinateIndexOf(focusDimension, others);
  return Array.from({ length: others }, (_, k) => {
    if (k < FIRST_OTHER_COORDINATE) return 0;
    const sorted = positionsIn(ets, k);
    return sorted[k === focusAt ? sorted.length >> 1 : 0] ?? 0;
  });
}

function isDisplayed(
  coordinates: Int32Array,
  at: number,
  others: number,
  channelAt: number | null,
  displayed: readonly number[],
): boolean {
  for (let k = FIRST_OTHER_COORDINATE; k < others; k++) {
    if (k !== channelAt && coordinates[at + k] !== displayed[k]) return false;
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
  const [width, height] = [Math.ceil(full.width / 2 ** resolution), Math.ceil(full.height / 2 ** resolution)];
  const level = { width, height, tileWidth, tileHeight, columns, rows };
  return { ...level, downsample: 2 ** resolution, ...(needsRendering && { needsRendering }) };
}

function backgroundOf({ background, samplesPerPixel, bits }: EtsFile): Colour {
  if (bits === 16) return BLACK;
  const [r = 255, g = r, b = r] = background;
  return samplesPerPixel === 3 ? { r, g, b } : { r, g: r, b: r };
}

type ReadTileByIndex = (tile: number, range: GreyRange, signal?: AbortSignal) => Promise<EncodedImage | null>;

/** Returns a reader of tiles by their index in the list. */
function tileReader(source: ByteSource, ets: EtsFile): ReadTileByIndex {
  const { codec, tileWidth: width, tileHeight: height, samplesPerPixel, bits, tiles } = ets;
  const prefix = jpegPrefix(null, samplesPerPixel === 3 ? 'ycbcr' : 'grey');
  const before = codec === 'jpeg' ? streamPlace(prefix) : 0;
  return async (tile, range, signal) => {
    const byteCount = tiles.byteCounts[tile] ?? 0;
    if (tile < 0 || byteCount === 0) return null;
    const offset = tiles.offsets[tile] as number;
    if (byteCount > limits.tileBytes) throw limitExceeded(`a tile has ${byteCount} bytes`);
    if (offset + byteCount > source.size) throw incomplete('its .ets file ends inside a tile');
    const bytes = new Uint8Array(before + byteCount);
    await source.readInto(bytes, before, offset, byteCount, signal);
    switch (codec) {
      case 'jpeg': {
        const { jpeg, header } = completeJpeg(bytes, prefix);
        if (header.width !== width || header.height !== height) {
          throw corrupt(`a tile is ${header.width} × ${header.height} pixels, not ${width} × ${height}`);
        }
        if (header.frameMarker > LAST_SEQUENTIAL_FRAME || header.precision !== 8) {
          throw notSupported('lossless, arithmetic or 12-bit JPEG');
        }
        if (header.components.length !== samplesPerPixel) {
          throw corrupt(`a tile has ${header.components.length} components`);
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
        const expected = (width * height * samplesPerPixel * bits) / 8;
        if (byteCount < expected) throw corrupt(`a tile has ${byteCount} bytes, not ${expected}`);
        if (samplesPerPixel === 3) {
          const rgb = bytes.subarray(0, expected);
          return { codec: 'rgb', bytes: ets.isBlueFirst ? swapRedAndBlue(rgb) : rgb, width, height };
        }
        const layout = { samplesPerPixel, bits, isPlanar: false } as const;
        return { codec, bytes, width, height, colour: range, layout };
      }
    }
  };
}

/** Converts blue, green, red to red, green, blue. */
function swapRedAndBlue(bgr: Uint8Array): Uint8Array {
  const rgb = new Uint8Array(bgr.length);
  for (let at = 0; at < bgr.length; at += 3) {
    rgb[at] = bgr[at + 2] as number;
    rgb[at + 1] = bgr[at + 1] as number;
    rgb[at + 2] = bgr[at] as number;
  }
  return rgb;
}
