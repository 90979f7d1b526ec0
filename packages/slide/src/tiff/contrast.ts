import { decodeBrightness } from '../decode/decode-brightness.ts';
import { cropRaster, type Raster } from '../decode/raster.ts';
import type { EncodedImage, GreyRange, Level, TileAddress } from '../slide.ts';
import type { LevelTiles } from './stated-levels.ts';

/** What is looked at to say how bright a channel is. */
const SAMPLE = { tiles: 64, pixels: 2 ** 24 };
/** So many of its pixels may be darker than black, and as many brighter than full colour. */
const CUT = 0.001;
/** A range is at least this part of all that a sample can be, so that a channel with nothing in it does not glow. */
const LEAST_PART = 1 / 64;

/**
 * Which samples of a channel become black and full colour: nearly its darkest and its brightest.
 *
 * Its smallest level is looked at, or tiles spread evenly over it where it is large: the same ones every time, so that
 * a slide always looks the same.
 *
 * @throws SlideError what reading and decoding those tiles throws
 */
export async function estimateContrast(pyramid: LevelTiles, bits: 8 | 16): Promise<GreyRange> {
  const most = 2 ** bits - 1;
  const whole = { black: 0, white: most };
  const tiles = await readSample(pyramid);
  if (tiles.length === 0) return whole;
  let range: GreyRange = whole;
  let steps = await readExtremes(tiles, range);
  if (bits === 16) {
    // 256 steps are too coarse for 16 bits: once more, between the ends of the steps that were found.
    range = { black: sampleAt(range, steps.darkest - 0.5), white: sampleAt(range, steps.brightest + 0.5) };
    steps = await readExtremes(tiles, range);
  }
  const least = Math.ceil(most * LEAST_PART);
  const black = Math.min(sampleAt(range, steps.darkest), most - least);
  return { black, white: Math.max(sampleAt(range, steps.brightest), black + least) };
}

/** What of a decoded tile is picture: at the edges of its level it may be padded, or not. */
export function cropToLevel(raster: Raster, level: Level, { column, row }: TileAddress): Raster {
  const width = Math.min(level.tileWidth, level.width - column * level.tileWidth);
  const height = Math.min(level.tileHeight, level.height - row * level.tileHeight);
  return cropRaster(raster, 0, 0, width, height);
}

/** A tile of the sample, with what it takes to decode it. */
interface SampleTile {
  readonly image: EncodedImage;
  readonly level: Level;
  readonly address: TileAddress;
}

async function readSample({ levels, readTile }: LevelTiles): Promise<readonly SampleTile[]> {
  const last = levels.length - 1;
  const level = levels[last] ?? levels[0];
  const { columns, rows, tileWidth, tileHeight } = level;
  const count = columns * rows;
  const affordable = Math.floor(SAMPLE.pixels / (tileWidth * tileHeight));
  const taken = Math.max(1, Math.min(count, SAMPLE.tiles, affordable));
  const tiles: SampleTile[] = [];
  for (let i = 0; i < taken; i++) {
    const index = Math.floor(((i + 0.5) * count) / taken);
    const address = { level: last, column: index % columns, row: Math.floor(index / columns) };
    const image = await readTile(address);
    if (image) tiles.push({ image, level, address });
  }
  return tiles;
}

/** Which of the 256 steps between black and white of a range nearly all samples are in. */
async function readExtremes(
  tiles: readonly SampleTile[],
  range: GreyRange,
): Promise<{ readonly darkest: number; readonly brightest: number }> {
  const counts = new Float64Array(256);
  let pixels = 0;
  for (const { image, level, address } of tiles) {
    const { rgb } = cropToLevel(await decodeBrightness(image, range), level, address);
    for (let at = 0; at < rgb.length; at += 3) {
      const step = rgb[at] as number;
      counts[step] = (counts[step] as number) + 1;
    }
    pixels += rgb.length / 3;
  }
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
