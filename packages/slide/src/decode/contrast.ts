/**
 * Which samples of a picture of one sample a pixel become black and white, where its numbers alone do not say it:
 * cameras write their 12 or 14 bits, or fewer, into 16, and as stored all of it would be black.
 *
 * docs/formats/channels.md says how it is chosen.
 */
import type { EncodedImage, GreyRange, Level, Slide, TileAddress } from '../slide.ts';
import { readOnce } from '../source/read-once.ts';
import { countsDown, decodeBrightness, turnRange } from './decode-brightness.ts';
import { cropRaster, type Raster } from './raster.ts';

/** A picture at its resolutions, as far as `Slide` speaks of them. */
type LevelTiles = Pick<Slide, 'levels' | 'readTile'>;

/** What is looked at to say how bright a channel is. */
const SAMPLE = { tiles: 64, pixels: 2 ** 24 };
/** So many of its pixels may be darker than black, and as many brighter than full colour. */
const CUT = 0.001;
/** A range is at least this part of all that a sample can be, so that a channel with nothing in it does not glow. */
const LEAST_PART = 1 / 64;

/** Samples that reach over this part of all that they can be are shown as they are stored. */
const DARK_PART = 1 / 2;

/**
 * The same tiles, each with the samples that become black and white.
 *
 * What the file declares is taken; else, where nearly all samples are less than half of what they can be, nearly the least and
 * the greatest of them; else nothing is said, and all that a sample can be is shown. Looked at with the
 * first tile, once, and the same for all tiles.
 *
 * @param tiles of one sample a pixel
 * @param bits that a sample uses, more than 8
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
    const isShownSo = declared !== null || isOfFewBits(range, bits, countsDown(image));
    return isShownSo ? { ...image, colour: turnRange(image, range) } : image;
  };
}

/**
 * Whether a picture is too dark to be shown as it is stored.
 *
 * @param range as brightness, which has the greatest sample black where samples count down
 */
export function isOfFewBits({ black, white }: GreyRange, bits: number, isDown: boolean): boolean {
  const most = 2 ** bits - 1;
  return (isDown ? most - black : white) < most * DARK_PART;
}

/**
 * Which samples of a channel become black and full colour: nearly its darkest and its brightest.
 *
 * Its smallest level is looked at, or tiles spread evenly over it where it is large: the same ones every time, so that
 * a slide always looks the same.
 *
 * @throws SlideError what reading and decoding those tiles throws
 */
export async function estimateContrast(tiles: LevelTiles, bits: number): Promise<GreyRange> {
  const read = new Map<string, Promise<EncodedImage | null>>();
  const readOncePerPlace = (address: TileAddress) => {
    const place = `${address.column} ${address.row}`;
    const known = read.get(place) ?? tiles.readTile(address);
    read.set(place, known);
    return known;
  };
  return estimateRange(tiles.levels, bits, async (address, range) => {
    const image = await readOncePerPlace(address);
    const level = tiles.levels[address.level];
    return image && level ? cropToLevel(await decodeBrightness(image, range), level, address) : null;
  });
}

/** @returns a tile as brightness within a range, without what lies beside the picture; null where there is none */
type DrawWithin = (address: TileAddress, range: GreyRange) => Promise<Raster | null>;

/**
 * As `estimateContrast`, of whatever can be drawn within a range.
 *
 * @throws SlideError what drawing throws
 */
export async function estimateRange(
  levels: Slide['levels'],
  bits: number,
  draw: DrawWithin,
): Promise<GreyRange> {
  const most = 2 ** bits - 1;
  const whole = { black: 0, white: most };
  const addresses = sampleOf(levels);
  let range: GreyRange = whole;
  let steps = await readExtremes(addresses, draw, range);
  if (steps === null) return whole;
  if (bits > 8) {
    // 256 steps are too coarse: once more, between the ends of the steps that were found.
    range = { black: sampleAt(range, steps.darkest - 0.5), white: sampleAt(range, steps.brightest + 0.5) };
    steps = (await readExtremes(addresses, draw, range)) ?? steps;
  }
  const least = Math.ceil(most * LEAST_PART);
  const black = Math.min(sampleAt(range, steps.darkest), most - least);
  return { black, white: Math.max(sampleAt(range, steps.brightest), black + least) };
}

/** What of a decoded tile is picture: at the edges of its level it may be padded, or not. */
export function cropToLevel(raster: Raster, level: Level, { column, row }: TileAddress): Raster {
  const width = Math.min(raster.width, level.tileWidth, level.width - column * level.tileWidth);
  const height = Math.min(raster.height, level.tileHeight, level.height - row * level.tileHeight);
  return cropRaster(raster, 0, 0, width, height);
}

/** Tiles spread evenly over the smallest level. */
function sampleOf(levels: Slide['levels']): readonly TileAddress[] {
  const last = levels.length - 1;
  const { columns, rows, tileWidth, tileHeight } = levels[last] ?? levels[0];
  const count = columns * rows;
  const affordable = Math.floor(SAMPLE.pixels / (tileWidth * tileHeight));
  const taken = Math.max(1, Math.min(count, SAMPLE.tiles, affordable));
  return Array.from({ length: taken }, (_, i) => {
    const index = Math.floor(((i + 0.5) * count) / taken);
    return { level: last, column: index % columns, row: Math.floor(index / columns) };
  });
}

interface Extremes {
  readonly darkest: number;
  readonly brightest: number;
}

/** Which of the 256 steps between black and white of a range nearly all samples are in; null without any. */
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

/** The sample that a step stands for, within the range. */
function sampleAt({ black, white }: GreyRange, step: number): number {
  return Math.round(black + ((white - black) * Math.min(255, Math.max(0, step))) / 255);
}

/** The first step that is reached when so many pixels have been passed. */
function stepAfter(counts: Float64Array, pixels: number): number {
  let passed = 0;
  for (const [step, count] of counts.entries()) {
    passed += count;
    if (passed > pixels) return step;
  }
  return counts.length - 1;
}
