/**
 * Chooses which samples of a single-channel picture become black and white where the file does not declare
 * it. Cameras write 12 or 14 bits, or fewer, into 16; shown unchanged, the picture would be black.
 *
 * Source: docs/formats/channels.md.
 */
import type { EncodedImage, GreyRange, Level, Slide, TileAddress } from '../model/slide.ts';
import { readOnce } from '../source/read-once.ts';
import { countsDown, decodeBrightness, turnRange } from './decode-brightness.ts';
import { cropRaster, type Raster } from './raster.ts';

/** The levels and tiles of a picture, as `Slide` provides them. */
type LevelTiles = Pick<Slide, 'levels' | 'readTile'>;

/** Maximum number of tiles and pixels that an estimate reads. */
const SAMPLE = { tiles: 64, pixels: 2 ** 24 };
/** Share of the pixels that may be darker than black, and share that may be brighter than white. */
const CUT = 0.001;
/** Minimum range as a share of all values, so that an empty channel is not stretched to noise. */
const MIN_RANGE_SHARE = 1 / 64;

/** A picture whose samples stay below this share of all values counts as too dark. */
const DARK_SHARE = 1 / 2;

/**
 * Returns a `readTile` whose tiles carry the samples that become black and white.
 *
 * A range that the file declares takes precedence. Otherwise, where nearly all samples are below half of the
 * maximum, the range is estimated. Otherwise tiles carry no range, and all values are shown. The estimate is
 * made once with the first tile and applies to all tiles.
 *
 * @param tiles tiles of one sample per pixel
 * @param bits bits that a sample uses, more than 8
 */
export function withGreyRange(
  tiles: LevelTiles,
  bits: number,
  declared: GreyRange | null,
): Slide['readTile'] {
  const readRange = readOnce(() => estimateContrast(tiles, bits));
  return async (...request) => {
    const image = await tiles.readTile(...request);
    if (image === null) return null;
    const range = declared ?? (await readRange());
    const usesRange = declared !== null || isOfFewBits(range, bits, countsDown(image));
    return usesRange ? { ...image, colour: turnRange(image, range) } : image;
  };
}

/**
 * Whether a picture is too dark to be shown unchanged.
 *
 * @param range as brightness: the largest sample is black where samples count down
 */
export function isOfFewBits({ black, white }: GreyRange, bits: number, countsDownwards: boolean): boolean {
  const maximum = 2 ** bits - 1;
  return (countsDownwards ? maximum - black : white) < maximum * DARK_SHARE;
}

/**
 * Estimates which samples of a channel become black and white: nearly its darkest and its brightest.
 *
 * Reads the smallest level, or tiles spread evenly over it where it is large. The choice of tiles is
 * deterministic, so a slide always looks the same.
 *
 * @throws SlideError errors of reading and decoding those tiles
 */
export async function estimateContrast(tiles: LevelTiles, bits: number): Promise<GreyRange> {
  const read = new Map<string, Promise<EncodedImage | null>>();
  const readTileOnce = (address: TileAddress) => {
    const key = `${address.column} ${address.row}`;
    const pending = read.get(key) ?? tiles.readTile(address);
    read.set(key, pending);
    return pending;
  };
  return estimateRange(tiles.levels, bits, async (address, range) => {
    const image = await readTileOnce(address);
    const level = tiles.levels[address.level];
    return image && level ? cropToLevel(await decodeBrightness(image, range), level, address) : null;
  });
}

/** Renders a tile as brightness within a range, without padding. @returns null where the level has no tile */
type DrawWithin = (address: TileAddress, range: GreyRange) => Promise<Raster | null>;

/**
 * Does the same as `estimateContrast` for any source of brightness tiles.
 *
 * @throws SlideError errors of `draw`
 */
export async function estimateRange(
  levels: Slide['levels'],
  bits: number,
  draw: DrawWithin,
): Promise<GreyRange> {
  const maximum = 2 ** bits - 1;
  const whole = { black: 0, white: maximum };
  const addresses = sampleOf(levels);
  let range: GreyRange = whole;
  let steps = await readExtremes(addresses, draw, range);
  if (steps === null) return whole;
  if (bits > 8) {
    // 256 steps are too coarse, so a second pass measures between the ends of the first.
    range = { black: sampleAt(range, steps.darkest - 0.5), white: sampleAt(range, steps.brightest + 0.5) };
    steps = (await readExtremes(addresses, draw, range)) ?? steps;
  }
  const least = Math.ceil(maximum * MIN_RANGE_SHARE);
  const black = Math.min(sampleAt(range, steps.darkest), maximum - least);
  return { black, white: Math.max(sampleAt(range, steps.brightest), black + least) };
}

/** Removes the padding of a decoded edge tile, if it has any. */
export function cropToLevel(raster: Raster, level: Level, { column, row }: TileAddress): Raster {
  const width = Math.min(raster.width, level.tileWidth, level.width - column * level.tileWidth);
  const height = Math.min(raster.height, level.tileHeight, level.height - row * level.tileHeight);
  return cropRaster(raster, 0, 0, width, height);
}

/** Addresses of tiles spread evenly over the smallest level. */
function sampleOf(levels: Slide['levels']): readonly TileAddress[] {
  const last = levels.length - 1;
  const { columns, rows, tileWidth, tileHeight } = levels[last] ?? levels[0];
  const count = columns * rows;
  const affordable = Math.floor(SAMPLE.pixels / (tileWidth * tileHeight));
  const sampled = Math.max(1, Math.min(count, SAMPLE.tiles, affordable));
  return Array.from({ length: sampled }, (_, i) => {
    const index = Math.floor(((i + 0.5) * count) / sampled);
    return { level: last, column: index % columns, row: Math.floor(index / columns) };
  });
}

interface Extremes {
  readonly darkest: number;
  readonly brightest: number;
}

/**
 * Finds the steps between black and white of a range that contain nearly all samples; null without pixels.
 */
async function readExtremes(
  addresses: readonly TileAddress[],
  draw: DrawWithin,
  range: GreyRange,
): Promise<Extremes | null> {
  const counts = new Float64Array(256);
  let pixels = 0;
  for (const address of addresses) {
    const raster = await draw(address, range);
    if (!raster) continue;
    const { rgb } = raster;
    for (let at = 0; at < rgb.length; at += 3) {
      const step = rgb[at] as number;
      counts[step] = (counts[step] as number) + 1;
    }
    pixels += rgb.length / 3;
  }
  if (pixels === 0) return null;
  const cut = Math.floor(pixels * CUT);
  return { darkest: stepAfter(counts, cut), brightest: 255 - stepAfter(counts.toReversed(), cut) };
}

/** Returns the sample value of a step within the range. */
function sampleAt({ black, white }: GreyRange, step: number): number {
  return Math.round(black + ((white - black) * Math.min(255, Math.max(0, step))) / 255);
}

/** Returns the first step at which the cumulative count exceeds `pixels`. */
function stepAfter(counts: Float64Array, pixels: number): number {
  let cumulated = 0;
  for (const [step, count] of counts.entries()) {
    cumulated += count;
    if (cumulated > pixels) return step;
  }
  return counts.length - 1;
}
