/**
 * A square part of a stained section as amounts of three stains per pixel, and its conversion to RGB.
 *
 * Haematoxylin stains nuclei blue-violet, eosin stains most other tissue pink. The third "stain", orange, gives red
 * blood cells, granules and pigments their tone.
 *
 * Colours follow the Beer–Lambert law: the absorbances of the stains add up, and the colour is the transmitted light.
 * Amounts are relative: 1 of haematoxylin is the amount in a typical nucleus, 1 of eosin that in deeply stained muscle, and 1 of
 * orange the amount that red blood cells have in addition to eosin.
 */
import type { SquareArea } from '../geometry/square-area.ts';

/** Amounts of stain per pixel, row by row. */
export interface StainTile extends SquareArea {
  readonly haematoxylin: Float32Array;
  readonly eosin: Float32Array;
  readonly orange: Float32Array;
}

/** Colour of bare glass in transmitted light: red, green, blue, 0…255. */
export const GLASS = [246, 245, 247] as const;

// Absorbance of one unit in red, green and blue, taken from the colours of well-stained sections:
// haematoxylin #5B3F8C, eosin #DA6F9B. Their ratios agree with the stain vectors of Ruifrok and Johnston (2001).
const HAEMATOXYLIN = [1.0, 1.34, 0.57] as const;
const EOSIN = [0.105, 0.79, 0.44] as const;
const ORANGE = [0.03, 0.2, 0.72] as const;

/** Entries of the tables of transmitted light per unit of absorbance. */
const STEPS_PER_UNIT = 1024;
/** Smallest absorbance of the tables, negative because textures vary around their mean; the largest is almost 15. */
const MIN_ABSORBANCE = -1;
const TABLE_LENGTH = 16 * STEPS_PER_UNIT;
const TABLE_MASK = TABLE_LENGTH - 1;

/** Returns a table of the transmitted light for each absorbance, in steps of 1/1024. @param bareLight light without stain, 0…255 */
function createTransmissionTable(bareLight: number): Uint8Array {
  return Uint8Array.from({ length: TABLE_LENGTH }, (_, step) => {
    const absorbance = step / STEPS_PER_UNIT + MIN_ABSORBANCE;
    return Math.round(bareLight * Math.exp(-Math.max(0, absorbance)));
  });
}

const transmittedRed = createTransmissionTable(GLASS[0]);
const transmittedGreen = createTransmissionTable(GLASS[1]);
const transmittedBlue = createTransmissionTable(GLASS[2]);

/** Creates a tile without stain. */
export function emptyStainTile(x: number, y: number, size: number): StainTile {
  const area = size * size;
  return {
    x,
    y,
    size,
    haematoxylin: new Float32Array(area),
    eosin: new Float32Array(area),
    orange: new Float32Array(area),
  };
}

/** Clears the memory of a tile and returns a tile at another position that uses this memory. */
export function reuseStainTile(tile: StainTile, x: number, y: number): StainTile {
  tile.haematoxylin.fill(0);
  tile.eosin.fill(0);
  tile.orange.fill(0);
  return { ...tile, x, y };
}

/**
 * Renders the tile as a scanner would record it: red, green and blue of 8 bits each, row by row.
 *
 * An objective of numerical aperture 0.75 blurs a point over about 0.4 µm. At 0.25 µm per pixel this is a binomial kernel of 3 × 3.
 * The kernel needs a neighbour on every side, so the result is two pixels smaller than the tile and starts one pixel
 * further in.
 *
 * @param picture receives the result
 * @param start index of the first byte of the result in `picture`
 * @param stride bytes per row of `picture`
 */
export function renderRgb(tile: StainTile, picture: Uint8Array, start: number, stride: number): void {
  const { haematoxylin, eosin, orange, size } = tile;
  const resultSide = size - 2;
  /** Index of absorbance 0 in the tables of transmitted light. */
  const zero = -MIN_ABSORBANCE * STEPS_PER_UNIT;
  // Red and blue share one number, 16 bits each: the sum of 16 weighted bytes fits into 12 bits.
  const redBlue = new Int32Array(size);
  const green = new Int32Array(size);
  // Ring buffers of the last three rows, blurred along x. `below`, `here` and `above` are pairs: [red and blue, green].
  const blurredRedBlue = [
    new Int32Array(resultSide),
    new Int32Array(resultSide),
    new Int32Array(resultSide),
  ] as const;
  const blurredGreen = [
    new Int32Array(resultSide),
    new Int32Array(resultSide),
    new Int32Array(resultSide),
  ] as const;
  for (let y = 0; y < size; y++) {
    for (let x = 0, i = y * size; x < size; x++, i++) {
      const h = (haematoxylin[i] as number) * STEPS_PER_UNIT;
      const e = (eosin[i] as number) * STEPS_PER_UNIT;
      const o = (orange[i] as number) * STEPS_PER_UNIT;
      // Indices in the tables of transmitted light; `& TABLE_MASK` keeps them inside the tables and cuts off the fraction.
      const r = (h * HAEMATOXYLIN[0] + e * EOSIN[0] + o * ORANGE[0] + zero) & TABLE_MASK;
      const g = (h * HAEMATOXYLIN[1] + e * EOSIN[1] + o * ORANGE[1] + zero) & TABLE_MASK;
      const b = (h * HAEMATOXYLIN[2] + e * EOSIN[2] + o * ORANGE[2] + zero) & TABLE_MASK;
      redBlue[x] = ((transmittedRed[r] as number) << 16) | (transmittedBlue[b] as number);
      green[x] = transmittedGreen[g] as number;
    }
    const below = [blurredRedBlue[y % 3] as Int32Array, blurredGreen[y % 3] as Int32Array] as const;
    for (let x = 0; x < resultSide; x++) {
      below[0][x] = (redBlue[x] as number) + 2 * (redBlue[x + 1] as number) + (redBlue[x + 2] as number);
      below[1][x] = (green[x] as number) + 2 * (green[x + 1] as number) + (green[x + 2] as number);
    }
    if (y < 2) continue;
    const above = [
      blurredRedBlue[(y - 2) % 3] as Int32Array,
      blurredGreen[(y - 2) % 3] as Int32Array,
    ] as const;
    const here = [
      blurredRedBlue[(y - 1) % 3] as Int32Array,
      blurredGreen[(y - 1) % 3] as Int32Array,
    ] as const;
    for (let x = 0, target = start + (y - 2) * stride; x < resultSide; x++, target += 3) {
      // The kernel has the sum 16. Adding 8 to each sum (in both halves of `rb`) rounds the division by 16, which is a shift by 4.
      const rb = (above[0][x] as number) + 2 * (here[0][x] as number) + (below[0][x] as number) + 0x80008;
      const g = (above[1][x] as number) + 2 * (here[1][x] as number) + (below[1][x] as number) + 8;
      picture[target] = rb >> 20; // red, the upper half of `rb`
      picture[target + 1] = g >> 4;
      picture[target + 2] = (rb & 0xffff) >> 4;
    }
  }
}
