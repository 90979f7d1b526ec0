/** Reproducible random numbers: everything on a demonstration slide follows from its seed and its position. */

/** Returns the next number in [0, 1). */
export type Random = () => number;

/** The same seed gives the same sequence (mulberry32 by T. Ettinger, public domain). */
export function randomFrom(seed: number): Random {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Returns the number in [0, 1) of a grid position: a hash, independent of earlier calls. */
export function randomAt(seed: number, column: number, row: number): number {
  let mixed = Math.imul(column, 0x27d4eb2d) ^ Math.imul(row, 0x165667b1) ^ Math.imul(seed, 0x9e3779b1);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return ((mixed ^ (mixed >>> 16)) >>> 0) / 2 ** 32;
}

/** Returns smooth value noise in −1…1 with one extremum per unit of x and y. */
export function noiseAt(seed: number, x: number, y: number): number {
  const column = Math.floor(x);
  const row = Math.floor(y);
  const fx = x - column;
  const fy = y - row;
  const sx = fx * fx * fx * (fx * (fx * 6 - 15) + 10);
  const sy = fy * fy * fy * (fy * (fy * 6 - 15) + 10);
  const top = randomAt(seed, column, row) * (1 - sx) + randomAt(seed, column + 1, row) * sx;
  const bottom = randomAt(seed, column, row + 1) * (1 - sx) + randomAt(seed, column + 1, row + 1) * sx;
  return (top * (1 - sy) + bottom * sy) * 2 - 1;
}

/** Returns fractal noise in −1…1: the sum of octaves, each half as large and half as strong as the one before. */
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

/** Returns a random number between `from` and `to`. */
export function between(random: Random, from: number, to: number): number {
  return from + (to - from) * random();
}

/** Selects an item by a number in [0, 1). */
export function pick<T>(items: readonly T[], chance: number): T {
  return items[Math.min(items.length - 1, Math.floor(chance * items.length))] as T;
}

/** 0 below `from`, 1 above `to`, smooth between; `from` may be the larger one. */
export function smoothStep(from: number, to: number, value: number): number {
  const t = Math.min(1, Math.max(0, (value - from) / (to - from)));
  return t * t * (3 - 2 * t);
}
