import { type Channel, colourOfChannel, composeChannels } from '../decode/compose-channels.ts';
import { decodeBrightness } from '../decode/decode-brightness.ts';
import { decodeImage } from '../decode/decode-image.ts';
import type { Colour, Raster } from '../decode/raster.ts';
import { completeJpeg, jpegPrefix, streamPlace } from '../jpeg/complete-jpeg.ts';
import { type EncodedImage, type GreyRange, type Level, type Slide, SlideError } from '../slide.ts';
import type { ByteSource } from '../source/byte-source.ts';
import { corrupt, incomplete, notRead, tooMuch } from './damage.ts';
import type { EtsFile } from './ets-file.ts';
import { limits } from './limits.ts';
import type { Stack } from './stacks.ts';

export type EtsPyramid = Pick<Slide, 'levels' | 'background' | 'readTile'>;

/** One resolution of one channel: which of the listed tiles lies where. */
interface Grid {
  /** Of the resolution: each is half of the one before. */
  readonly resolution: number;
  readonly columns: number;
  readonly rows: number;
  /** By channel, row by row: the number of the tile; −1 for one that is not there. */
  readonly tiles: ReadonlyMap<number, Int32Array>;
}

interface Size {
  readonly width: number;
  readonly height: number;
}

const BLACK: Colour = { r: 0, g: 0, b: 0 };
/** Numbers of a tile: column and row come first. */
const PLACE = 2;
const LAST_SEQUENTIAL_FRAME = 0xc2;

/**
 * The picture of an .ets file at all its resolutions. Of focus planes the one in the middle is shown, of times and the
 * like the first; grey channels are laid over one another.
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
  if (isComposed && numbers.length > limits.channels) throw notRead(`${numbers.length} channels`);
  const inMemory = ets.tileWidth * ets.tileHeight * (isComposed ? numbers.length : 1);
  if (inMemory > limits.tilePixels) throw tooMuch(`a tile has ${inMemory} pixels`);

  const isMade = isComposed || ets.codec !== 'jpeg';
  const levels = grids.map((grid) => levelOf(grid, size, ets, isMade)) as [Level, ...Level[]];
  const rangeOf = (channel: number): GreyRange =>
    (isComposed || ets.bits === 16 ? stack.channels.get(channel)?.range : null) ?? {
      black: 0,
      white: 2 ** ets.bits - 1,
    };
  const readStored = storedTiles(source, ets);

  return {
    levels,
    background: isComposed ? BLACK : backgroundOf(ets),
    async readTile({ level, column, row }, signal) {
      const grid = grids[level];
      const isInside = grid && column >= 0 && column < grid.columns && row >= 0 && row < grid.rows;
      if (!isInside || !Number.isInteger(column) || !Number.isInteger(row)) {
        throw new SlideError('TILE_OUT_OF_RANGE', `There is no tile ${column}, ${row} of level ${level}`);
      }
      const tileOf = (channel: number) => grid.tiles.get(channel)?.[row * grid.columns + column] ?? -1;
      if (!isComposed) return readStored(tileOf(first), rangeOf(first), signal);
      const parts: Channel[] = [];
      for (const [i, channel] of numbers.entries()) {
        const image = await readStored(tileOf(channel), rangeOf(channel), signal);
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
  // Samples and JPEG 2000 bring their range along.
  return image.colour === undefined ? decodeBrightness(image, range) : decodeImage(image);
}

/** As many pixels as the tiles at full resolution have, where the slide itself does not say how many. */
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

/** @returns largest first; resolutions without a tile are left out */
function gridsOf(ets: EtsFile, size: Size, stack: Stack): readonly Grid[] {
  const { tiles, tileWidth, tileHeight } = ets;
  const { coordinates, dimensions } = tiles;
  if (size.width < 1 || size.height < 1) throw corrupt(`it has ${size.width} × ${size.height} pixels`);
  if (Math.max(size.width, size.height) > limits.imageSide) {
    throw tooMuch(`it has ${size.width} × ${size.height} pixels`);
  }
  const others = tiles.hasResolutions ? dimensions - 1 : dimensions;
  const channelAt = placeOf(stack.channelDimension, others);
  const shown = shownPlaces(ets, others, stack.focusDimension);

  const grids = new Map<number, Grid & { readonly tiles: Map<number, Int32Array> }>();
  let places = 0;
  for (let i = 0; i < tiles.count; i++) {
    const at = i * dimensions;
    if (!isShown(coordinates, at, others, channelAt, shown)) continue;
    const resolution = tiles.hasResolutions ? (coordinates[at + dimensions - 1] as number) : 0;
    if (resolution < 0) throw corrupt(`a tile has the resolution ${resolution}`);
    if (resolution >= limits.levels) throw tooMuch(`it has ${resolution + 1} resolutions`);
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
      throw corrupt(`a tile lies at ${column}, ${row} of ${grid.columns} × ${grid.rows}`);
    }
    const channel = channelAt === null ? 0 : (coordinates[at + channelAt] as number);
    let numbers = grid.tiles.get(channel);
    if (!numbers) {
      places += grid.columns * grid.rows;
      if (places > limits.places) throw tooMuch(`it has room for more than ${limits.places} tiles`);
      numbers = new Int32Array(grid.columns * grid.rows).fill(-1);
      grid.tiles.set(channel, numbers);
    }
    const place = row * grid.columns + column;
    // Of two tiles in one place the first counts.
    if (numbers[place] === -1) numbers[place] = i;
  }
  return [...grids.values()].sort((one, other) => one.resolution - other.resolution);
}

/** Where one of a tile's numbers after column and row stands; null when there is none such. */
function placeOf(dimension: number | null, others: number): number | null {
  return dimension !== null && dimension + PLACE < others ? dimension + PLACE : null;
}

/** Of the focus planes the one in the middle, for the first are often blurred; of everything else the first. */
function shownPlaces({ tiles }: EtsFile, others: number, focusDimension: number | null): readonly number[] {
  const focusAt = placeOf(focusDimension, others);
  return Array.from({ length: others }, (_, k) => {
    if (k < PLACE) return 0;
    const all = new Set<number>();
    for (let i = 0; i < tiles.count; i++) all.add(tiles.coordinates[i * tiles.dimensions + k] as number);
    const sorted = [...all].sort((one, other) => one - other);
    return sorted[k === focusAt ? sorted.length >> 1 : 0] ?? 0;
  });
}

function isShown(
  coordinates: Int32Array,
  at: number,
  others: number,
  channelAt: number | null,
  shown: readonly number[],
): boolean {
  for (let k = PLACE; k < others; k++) {
    if (k !== channelAt && coordinates[at + k] !== shown[k]) return false;
  }
  return true;
}

function levelOf({ resolution, columns, rows }: Grid, full: Size, ets: EtsFile, isMade: boolean): Level {
  const { tileWidth, tileHeight } = ets;
  const [width, height] = [Math.ceil(full.width / 2 ** resolution), Math.ceil(full.height / 2 ** resolution)];
  const level = { width, height, tileWidth, tileHeight, columns, rows };
  return { ...level, downsample: 2 ** resolution, ...(isMade && { isMade }) };
}

function backgroundOf({ background, samplesPerPixel, bits }: EtsFile): Colour {
  if (bits === 16) return BLACK;
  const [r = 255, g = r, b = r] = background;
  return samplesPerPixel === 3 ? { r, g, b } : { r, g: r, b: r };
}

type ReadStored = (tile: number, range: GreyRange, signal?: AbortSignal) => Promise<EncodedImage | null>;

/** Reads tiles by their numbers in the list. */
function storedTiles(source: ByteSource, ets: EtsFile): ReadStored {
  const { codec, tileWidth: width, tileHeight: height, samplesPerPixel, bits, tiles } = ets;
  const prefix = jpegPrefix(null, samplesPerPixel === 3 ? 'ycbcr' : 'grey');
  const before = codec === 'jpeg' ? streamPlace(prefix) : 0;
  return async (tile, range, signal) => {
    const byteCount = tiles.byteCounts[tile] ?? 0;
    if (tile < 0 || byteCount === 0) return null;
    const offset = tiles.offsets[tile] as number;
    if (byteCount > limits.tileBytes) throw tooMuch(`a tile has ${byteCount} bytes`);
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
          throw notRead('lossless, arithmetic or 12-bit JPEG');
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
          return { codec: 'rgb', bytes: ets.isBlueFirst ? turnColours(rgb) : rgb, width, height };
        }
        const layout = { samplesPerPixel, bits, isPlanar: false } as const;
        return { codec, bytes, width, height, colour: range, layout };
      }
    }
  };
}

/** Blue, green, red to red, green, blue. */
function turnColours(bgr: Uint8Array): Uint8Array {
  const rgb = new Uint8Array(bgr.length);
  for (let at = 0; at < bgr.length; at += 3) {
    rgb[at] = bgr[at + 2] as number;
    rgb[at + 1] = bgr[at + 1] as number;
    rgb[at + 2] = bgr[at] as number;
  }
  return rgb;
}
