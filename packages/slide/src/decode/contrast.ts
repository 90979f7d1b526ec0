/**
 * Automatic contrast of single-channel images: estimates the range of samples between black and white that the file does not declare.
 * Cameras store samples of 14 bits or fewer in 16 bits; shown unchanged, such an image would be nearly black.
 *
 * The readers of fluorescence and 16-bit grey formats use this module. The rules are in docs/formats/channels.md.
 */
import type { EncodedImage, GreyRange, Level, Slide, TileAddress } from '../model/slide.ts';
import { readOnce } from '../source/read-once.ts';
import { decodeBrightness, isLargestSampleBlack, toSampleRange } from './decode-brightness.ts';
import { cropRaster, type Raster } from './raster.ts';

/** The levels and tiles of an image, as `Slide` provides them. */
type LevelTiles = Pick<Slide, 'levels' | 'readTile'>;

/** Maximum tiles and pixels that an estimate reads. */
const ESTIMATE_LIMITS = { tiles: 64, pixels: 2 ** 24 };
/** Share of the pixels (such as dead or hot pixels of a camera) that an estimate ignores at each end of the range. */
const CUT_SHARE = 0.001;
/** Minimum width of the range as a share of all values; a narrower range would amplify the noise of an empty channel. */
const MIN_RANGE_SHARE = 1 / 64;

/** An image counts as too dark when nearly all its samples are below this share of the maximum. */
const DARK_SHARE = 1 / 2;

/**
 * Wraps `readTile` so that each tile states its range: the samples that are shown as black and white.
 *
 * - If the file declares a range, that range is used.
 * - If nearly all samples are below half of the maximum, an estimate is used.
 * - Otherwise the tiles get no range, so that all values are shown.
 *
 * The estimate is made once, when the first tile is read, and applies to all tiles.
 *
 * @param tiles an image of one sample per pixel
 * @param bits bits per sample, more than 8
 * @param declared the range that the file declares; null when it declares none
 */
export function withGreyRange(
  tiles: LevelTiles,
  bits: number,
  declared: GreyRange | null,
): Slide['readTile'] {
  const estimateOnce = readOnce(() => estimateGreyRange(tiles, bits));
  return async (...request) => {
    const image = await tiles.readTile(...request);
    if (image === null) return null;
    const range = declared ?? (await estimateOnce());
    const usesRange = declared !== null || isTooDark(range, bits, isLargestSampleBlack(image));
    return usesRange ? { ...image, colour: toSampleRange(image, range) } : image;
  };
}

/**
 * Whether an image is too dark to be shown unchanged: its largest used sample is below half of the maximum.
 *
 * @param range brightness of the darkest and the brightest pixels
 * @param bits bits per sample
 * @param isInverted whether the largest sample means black
 */
export function isTooDark({ black, white }: GreyRange, bits: number, isInverted: boolean): boolean {
  const maximum = 2 ** bits - 1;
  const largestUsedSample = isInverted ? maximum - black : white;
  return largestUsedSample < maximum * DARK_SHARE;
}

/**
 * Estimates the range from the darkest to the brightest sample of a channel, and ignores 0.1 % of the pixels at each end.
 *
 * Reads the smallest level: all its tiles or, if there are many, some that are spread evenly over it. The choice of tiles
 * is deterministic, so a slide always looks the same.
 *
 * @throws SlideError errors of reading and decoding those tiles
 */
export async function estimateGreyRange(tiles: LevelTiles, bits: number): Promise<GreyRange> {
  // `estimateBrightnessRange` requests each tile twice. The second time the tile is decoded again, but not read again.
  const encodedTiles = new Map<string, Promise<EncodedImage | null>>();
  const readTileOnce = (address: TileAddress) => {
    const key = `${address.column} ${address.row}`; // all tiles of the estimate are of one level
    const encodedTile = encodedTiles.get(key) ?? tiles.readTile(address);
    encodedTiles.set(key, encodedTile);
    return encodedTile;
  };
  return estimateBrightnessRange(tiles.levels, bits, async (address, range) => {
    const image = await readTileOnce(address);
    const level = tiles.levels[address.level];
    return image && level ? cropToLevel(await decodeBrightness(image, range), level, address) : null;
  });
}

/** Returns a tile as brightness within a range, without padding; null for a tile that the file does not store. */
type ReadBrightness = (address: TileAddress, range: GreyRange) => Promise<Raster | null>;

/**
 * Estimates a range like `estimateGreyRange`, but reads tiles only through `readBrightness`.
 *
 * @param bits bits per sample
 * @throws SlideError errors of `readBrightness`
 */
export async function estimateBrightnessRange(
  levels: Slide['levels'],
  bits: number,
  readBrightness: ReadBrightness,
): Promise<GreyRange> {
  const maximum = 2 ** bits - 1;
  const wholeRange = { black: 0, white: maximum };
  const addresses = chooseSampleTiles(levels);
  let range: GreyRange = wholeRange;
  let steps = await readExtremes(addresses, readBrightness, range);
  if (steps === null) return wholeRange;
  if (bits > 8) {
    // The 256 brightness steps of the whole range are too coarse. A second pass measures again, with 256 steps between
    // the ends that the first pass found. These ends are moved apart by half a step each, because steps are rounded.
    range = { black: sampleAt(range, steps.darkest - 0.5), white: sampleAt(range, steps.brightest + 0.5) };
    steps = (await readExtremes(addresses, readBrightness, range)) ?? steps;
  }
  // `black` stays at least `minRange` below the maximum, so that `white` never exceeds the maximum.
  const minRange = Math.ceil(maximum * MIN_RANGE_SHARE);
  const black = Math.min(sampleAt(range, steps.darkest), maximum - minRange);
  return { black, white: Math.max(sampleAt(range, steps.brightest), black + minRange) };
}

/** Removes the padding of a decoded edge tile, if it has any. */
export function cropToLevel(raster: Raster, level: Level, { column, row }: TileAddress): Raster {
  const width = Math.min(raster.width, level.tileWidth, level.width - column * level.tileWidth);
  const height = Math.min(raster.height, level.tileHeight, level.height - row * level.tileHeight);
  return cropRaster(raster, 0, 0, width, height);
}

/** Returns the addresses of tiles spread evenly over the smallest level, within the limits of an estimate. */
function chooseSampleTiles(levels: Slide['levels']): readonly TileAddress[] {
  const smallestLevel = levels.length - 1;
  const { columns, rows, tileWidth, tileHeight } = levels[smallestLevel] ?? levels[0];
  const count = columns * rows;
  const tilesWithinPixelLimit = Math.floor(ESTIMATE_LIMITS.pixels / (tileWidth * tileHeight));
  const sampledCount = Math.max(1, Math.min(count, ESTIMATE_LIMITS.tiles, tilesWithinPixelLimit));
  return Array.from({ length: sampledCount }, (_, i) => {
    // The tile in the middle of the i-th of `sampledCount` equal parts of the level.
    const index = Math.floor(((i + 0.5) * count) / sampledCount);
    return { level: smallestLevel, column: index % columns, row: Math.floor(index / columns) };
  });
}

/** The darkest and the brightest step of some pixels. Steps divide a range: 0 is its black, 255 its white. */
interface Extremes {
  readonly darkest: number;
  readonly brightest: number;
}

/** Returns the darkest and the brightest step, ignoring 0.1 % of the pixels at each end; null if there are no pixels. */
async function readExtremes(
  addresses: readonly TileAddress[],
  readBrightness: ReadBrightness,
  range: GreyRange,
): Promise<Extremes | null> {
  const counts = new Float64Array(256);
  let pixels = 0;
  for (const address of addresses) {
    const raster = await readBrightness(address, range);
    if (!raster) continue;
    const { rgb } = raster;
    for (let at = 0; at < rgb.length; at += 3) {
      const step = rgb[at] as number;
      counts[step] = (counts[step] as number) + 1;
    }
    pixels += rgb.length / 3;
  }
  if (pixels === 0) return null;
  const cutPixels = Math.floor(pixels * CUT_SHARE);
  return {
    darkest: stepAfter(counts, cutPixels),
    brightest: 255 - stepAfter(counts.toReversed(), cutPixels),
  };
}

/** Returns the sample value of a step within the range. */
function sampleAt({ black, white }: GreyRange, step: number): number {
  return Math.round(black + ((white - black) * Math.min(255, Math.max(0, step))) / 255);
}

/** Returns the first step at which the cumulative count exceeds `pixels`. */
function stepAfter(counts: Float64Array, pixels: number): number {
  let cumulativeCount = 0;
  for (const [step, count] of counts.entries()) {
    cumulativeCount += count;
    if (cumulativeCount > pixels) return step;
  }
  return counts.length - 1;
}
