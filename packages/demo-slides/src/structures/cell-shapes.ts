/**
 * Nuclei and cytoplasm as functions of the position; `cells.ts` builds the stamps (small images) of cells from them. Numbers without
 * a name are chosen by eye; those added to a seed give independent noise. `stain.ts` defines the unit of the amounts of stain.
 */
import { between, noiseAt, type Random, smoothStep } from '../geometry/random.ts';

export interface NucleusLook {
  /** Semi-axis along x, pixels: smallest and largest. */
  readonly long: readonly [number, number];
  /** Semi-axis along y, pixels: smallest and largest. */
  readonly short: readonly [number, number];
  /** Relative deviation of the outline from the ellipse: 0 is an exact ellipse, 0.15 is very irregular. */
  readonly irregular: number;
  /** Amount of haematoxylin between the chromatin clumps. */
  readonly base: number;
  /** Additional haematoxylin in the clumps. */
  readonly clumps: number;
  /** Additional haematoxylin in the nuclear membrane. */
  readonly membrane: number;
  /** Distance between the clumps, pixels. */
  readonly clumpSpacing: number;
  /** Maximum of the random number of visible nucleoli, before this number is rounded. */
  readonly nucleoli: number;
  /** Curvature of a long nucleus: largest sideways deviation of its ends, pixels. */
  readonly bow: number;
  /** Shape of the ends: 0 is round, 1 is pointed. */
  readonly pointed: number;
}

/** The amounts of stain at a position, and the coverage 0…1 (the opacity over the tissue below). */
interface StainPoint {
  readonly haematoxylin: number;
  readonly eosin: number;
  readonly orange: number;
  readonly cover: number;
}

/** Returns the stain at a position in pixels relative to the centre; null outside this part of the cell. */
type CellPart = (x: number, y: number) => StainPoint | null;

/** A round nucleus with average chromatin; the cells of `cells.ts` override some values. */
export const typicalNucleus: NucleusLook = {
  long: [13, 15],
  short: [12, 14],
  irregular: 0.05,
  base: 0.62,
  clumps: 0.5,
  membrane: 0.45,
  clumpSpacing: 4.5,
  nucleoli: 1,
  bow: 0,
  pointed: 0,
};

/** Creates a random nucleus. */
export function createNucleus(random: Random, look: NucleusLook): CellPart {
  const long = between(random, ...look.long);
  const short = between(random, ...look.short);
  const bow = (random() * 2 - 1) * look.bow;
  const seed = Math.floor(random() * 2 ** 30);
  const waves = [2, 3, 4, 5].map((count) => ({
    count,
    amplitude: (look.irregular * (random() * 2 - 1)) / Math.sqrt(count - 1),
    phase: random() * Math.PI * 2,
  }));
  const nucleoli = Array.from({ length: Math.round(look.nucleoli * between(random, 0.35, 1)) }, () => {
    const angle = random() * Math.PI * 2;
    const distance = Math.sqrt(random()) * 0.5;
    return {
      x: Math.cos(angle) * distance * long,
      y: Math.sin(angle) * distance * short,
      radius: between(random, 1.7, 3.1),
    };
  });
  const shorterSemiAxis = Math.min(long, short);

  return (x, yBent) => {
    // Straightens the nucleus: the lines below compute a nucleus without a bow. 0.33, the mean of the
    // square, keeps the bent nucleus centred.
    const y = yBent - bow * ((x / long) ** 2 - 0.33);
    const taper = 1 - look.pointed * 0.75 * Math.min(1, (x / long) ** 2);
    // Coordinates in which the ellipse of the nucleus is a circle of radius 1.
    const nx = x / long;
    const ny = y / (short * Math.max(0.2, taper));
    const distance = Math.hypot(nx, ny);
    if (distance > 1.5) return null;
    const angle = Math.atan2(ny, nx);
    let outline = 1;
    for (const wave of waves) outline += wave.amplitude * Math.cos(angle * wave.count + wave.phase);
    const fromBorder = (1 - distance / outline) * shorterSemiAxis; // pixels; positive inside the nucleus
    const cover = smoothStep(-1.1, 0.9, fromBorder);
    if (cover <= 0) return null;

    const coarse = noiseAt(seed, x / look.clumpSpacing, y / look.clumpSpacing);
    const fine = noiseAt(seed + 7, x / 2.1, y / 2.1);
    const clump = smoothStep(-0.1, 0.75, coarse + fine * 0.35);
    const rim = Math.exp(-(((fromBorder - 1.3) / 1.5) ** 2)) * (0.75 + 0.35 * coarse);
    // A sphere is thickest in its centre; in a thin section the difference is small.
    const thickness = 0.86 + 0.14 * Math.sqrt(Math.max(0, 1 - (distance / outline) ** 2));
    let haematoxylin = (look.base + look.clumps * clump + 0.1 * fine) * thickness + look.membrane * rim;
    let eosin = 0.26 + 0.06 * coarse;
    for (const nucleolus of nucleoli) {
      const distanceToCentre = Math.hypot(x - nucleolus.x, y - nucleolus.y);
      const near = Math.exp(-((distanceToCentre / nucleolus.radius) ** 4));
      haematoxylin += near * 0.55;
      eosin += near * 0.5;
    }
    return { haematoxylin, eosin, orange: 0, cover };
  };
}

/** Returns the stain where one part of a cell lies over another, such as a nucleus over cytoplasm. */
export function blendOver(top: StainPoint | null, under: StainPoint | null): StainPoint | null {
  if (top === null || under === null) return top ?? under;
  const cover = top.cover + under.cover * (1 - top.cover);
  const share = top.cover / cover;
  return {
    haematoxylin: top.haematoxylin * share + under.haematoxylin * (1 - share),
    eosin: top.eosin * share + under.eosin * (1 - share),
    orange: top.orange * share + under.orange * (1 - share),
    cover,
  };
}

export interface CytoplasmLook {
  /** Semi-axes along x and y, pixels. */
  readonly long: number;
  readonly short: number;
  readonly haematoxylin: number;
  readonly eosin: number;
  readonly orange: number;
  /** Strength of the granules: two added noises change the stain by at most 1.8 times this share. */
  readonly grain: number;
  /** Distance between the granules, pixels. */
  readonly grainSpacing: number;
  /** Coverage inside the border, 0…1. */
  readonly cover: number;
}

/** Creates the cytoplasm of a random cell. */
export function createCytoplasm(random: Random, look: CytoplasmLook): CellPart {
  const seed = Math.floor(random() * 2 ** 30);
  const waves = [2, 3, 5].map((count) => ({
    count,
    amplitude: 0.09 * (random() * 2 - 1),
    phase: random() * 7, // more than a full turn
  }));
  return (x, y) => {
    const distance = Math.hypot(x / look.long, y / look.short);
    const angle = Math.atan2(y, x);
    let outline = 1;
    for (const wave of waves) outline += wave.amplitude * Math.cos(angle * wave.count + wave.phase);
    const fromBorder = (1 - distance / outline) * Math.min(look.long, look.short);
    const cover = smoothStep(-1.4, 1.2, fromBorder) * look.cover;
    if (cover <= 0) return null;
    // Two noise grids at different angles: the lattice of a single one would be visible.
    const rotatedNoise = noiseAt(
      seed + 3,
      (x * 0.8 - y * 0.6) / look.grainSpacing,
      (x * 0.6 + y * 0.8) / look.grainSpacing,
    );
    const grain =
      1 + look.grain * (rotatedNoise + 0.8 * noiseAt(seed, x / look.grainSpacing, y / look.grainSpacing));
    return {
      haematoxylin: look.haematoxylin * grain,
      eosin: look.eosin * grain,
      orange: look.orange * grain,
      cover,
    };
  };
}

/** Returns a part of a cell moved by a distance in pixels. */
export function translate(part: CellPart, dx: number, dy: number): CellPart {
  return (x, y) => part(x - dx, y - dy);
}
