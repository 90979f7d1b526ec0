/** Reproducible random numbers: the seed of a demonstration slide and the position determine everything on it. */

/** Returns the next number in [0, 1). */
export type Random = () => number;

/** Creates a generator. The same seed gives the same sequence (mulberry32 by T. Ettinger, public domain). */
export function createRandom(seed: number): Random {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Returns a number in [0, 1) that depends only on the seed and a grid position: a hash, mixed as in MurmurHash3. */
export function randomAt(seed: number, column: number, row: number): number {
  let mixed = Math.imul(column, 0x27d4eb2d) ^ Math.imul(row, 0x165667b1) ^ Math.imul(seed, 0x9e3779b1);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return ((mixed ^ (mixed >>> 16)) >>> 0) / 2 ** 32;
}

/**
 * Returns smooth value noise in −1…1: random values at whole x and y, interpolated between them. The caller divides pixels by the period
 * of the noise: `noiseAt(seed, x / 900, y / 900)` has a random value every 900 pixels.
 */
export function noiseAt(seed: number, x: number, y: number): number {
  const column = Math.floor(x);
  const row = Math.floor(y);
  // Position in the grid square, 0…1; below, `sx` and `sy` are the smoothed weights of its right and lower corners.
  const fx = x - column;
  const fy = y - row;
  // Perlin's quintic interpolation, whose first and second derivatives are 0 at the grid positions.
  const sx = fx * fx * fx * (fx * (fx * 6 - 15) + 10);
  const sy = fy * fy * fy * (fy * (fy * 6 - 15) + 10);
  const top = randomAt(seed, column, row) * (1 - sx) + randomAt(seed, column + 1, row) * sx;
  const bottom = randomAt(seed, column, row + 1) * (1 - sx) + randomAt(seed, column + 1, row + 1) * sx;
  return (top * (1 - sy) + bottom * sy) * 2 - 1;
}

/** Returns fractal noise in −1…1: a sum of `octaves` noises, each with half the period and amplitude of the one before. */
export function roughNoiseAt(seed: number, x: number, y: number, octaves: number): number {
  let sum = 0;
  let weight = 0;
  for (let octave = 0; octave < octaves; octave++) {
    const scale = 2 ** octave;
    sum += noiseAt(seed + octave * 101, x * scale, y * scale) / scale;
    weight += 1 / scale;
  }
  return sum / weight;
}

interface LineNoise {
  readonly seed: number;
  /** Row of the grid of random values along which the noise runs: any whole number. */
  readonly row: number;
  /** Pixels between two random values. */
  readonly period: number;
  /** The noise lies between −amplitude and amplitude. */
  readonly amplitude: number;
  /** See `roughNoiseAt`; the default is smooth noise. */
  readonly octaves?: number;
}

/** Returns a noise that changes along one coordinate only, such as x or the distance along a border; the coordinate is in pixels. */
export function createLineNoise({ seed, row, period, amplitude, octaves = 1 }: LineNoise) {
  return (coordinate: number): number => amplitude * roughNoiseAt(seed, coordinate / period, row, octaves);
}

/** Returns a random number from the minimum to the maximum. */
export function between(random: Random, minimum: number, maximum: number): number {
  return minimum + (maximum - minimum) * random();
}

/** Returns the item that a random number in [0, 1) selects. */
export function pick<T>(items: readonly T[], chance: number): T {
  return items[Math.min(items.length - 1, Math.floor(chance * items.length))] as T;
}

/** Returns a smooth transition from 0 at `edge0` to 1 at `edge1`, constant beyond them; `edge0` may be the larger one. */
export function smoothStep(edge0: number, edge1: number, value: number): number {
  const t = Math.min(1, Math.max(0, (value - edge0) / (edge1 - edge0)));
  return t * t * (3 - 2 * t);
}
