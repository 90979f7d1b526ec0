/**
 * A forceps biopsy of mucosa (the inner lining of the colon): an ellipse with epithelium on one side, torn edges
 * elsewhere, and crypts (tubular glands) in cross-section. Directions are angles in coordinates in which the ellipse is
 * a circle, except where noted. Numbers without a name are chosen by eye; those added to a seed separate the noises.
 */
import { between, noiseAt, type Random, randomAt, roughNoiseAt, smoothStep } from '../geometry/random.ts';
import { type Gland, locateInGland } from '../structures/glands.ts';

export interface Biopsy {
  readonly seed: number;
  /** Centre, pixels. */
  readonly x: number;
  readonly y: number;
  /** Semi-axes, pixels. */
  readonly long: number;
  readonly short: number;
  /** Direction of the long axis on the slide, radians. */
  readonly angle: number;
  /** Part of the outline with epithelium: direction of its middle, and half of the angle that it spans; radians. */
  readonly surfaceDirection: number;
  readonly halfSurfaceSpan: number;
  /** Arc length of the ellipse up to each direction, from -π in equal steps, pixels. */
  readonly arcLengths: Float64Array;
}

/** Number of equal steps of the direction, at whose ends the arc length is stored. */
const DIRECTIONS = 1440;

/** Creates a biopsy: computes the arc lengths of its ellipse. */
export function createBiopsy(shape: Omit<Biopsy, 'arcLengths'>): Biopsy {
  const arcLengths = new Float64Array(DIRECTIONS + 1);
  // Starts at direction 0 instead of -π, which makes no difference, because the ellipse is symmetric.
  for (let k = 1; k <= DIRECTIONS; k++) {
    const direction = ((k - 0.5) / DIRECTIONS) * Math.PI * 2;
    const pixelsPerRadian = Math.hypot(shape.long * Math.sin(direction), shape.short * Math.cos(direction));
    arcLengths[k] = (arcLengths[k - 1] as number) + (pixelsPerRadian * Math.PI * 2) / DIRECTIONS;
  }
  return { ...shape, arcLengths };
}

export interface BiopsyPosition {
  /** Distance from the torn edge, pixels; negative on the glass. */
  distanceFromEdge: number;
  /** Depth below the surface with epithelium, pixels; large where the outline is torn. */
  depth: number;
  /** Pixels along the outline. */
  along: number;
}

/** Returns the radius of the outline relative to the ellipse in a direction. Noise on circles lets the outline close without a step. */
function outlineAt(biopsy: Biopsy, direction: number): number {
  const cos = Math.cos(direction);
  const sin = Math.sin(direction);
  return (
    1 +
    0.13 * noiseAt(biopsy.seed, cos * 1.7 + 5, sin * 1.7 + 5) +
    0.045 * noiseAt(biopsy.seed + 1, cos * 5 + 5, sin * 5 + 5)
  );
}

/** Computes the position in a biopsy; writes it into `out` and returns `out`. */
export function locateInBiopsy(biopsy: Biopsy, x: number, y: number, out: BiopsyPosition): BiopsyPosition {
  const cos = Math.cos(biopsy.angle);
  const sin = Math.sin(biopsy.angle);
  // Pixels from the centre along the long and the short axis of the ellipse.
  let alongLong = (x - biopsy.x) * cos + (y - biopsy.y) * sin;
  let alongShort = (y - biopsy.y) * cos - (x - biopsy.x) * sin;
  const { long, short } = biopsy;
  const outline = outlineAt(biopsy, Math.atan2(alongShort / short, alongLong / long));
  const radius = Math.hypot(alongLong / long, alongShort / short);
  /** Length of the normal vector of the ellipse, (alongLong / long², alongShort / short²). */
  const normalLength = Math.hypot(alongLong / long ** 2, alongShort / short ** 2);
  // Change of `radius` per pixel perpendicular to the outline (the direction of the depth); constant near the centre.
  const radiusPerPixel = radius < 0.2 ? 1 / short : normalLength / radius;
  const depth = (outline - radius) / radiusPerPixel;
  // Less than 300 pixels inside the outline, moves the position to the nearest point of the outline, for `along`. Farther inside,
  // `along` may be inexact, because only the epithelium uses it.
  if (depth > 0 && depth < 300 && normalLength > 0) {
    const [nx, ny] = [alongLong / long ** 2 / normalLength, alongShort / short ** 2 / normalLength];
    alongLong += nx * depth;
    alongShort += ny * depth;
  }
  const direction = Math.atan2(alongShort / short, alongLong / long);
  const indexInLengths = ((direction + Math.PI) / (Math.PI * 2)) * DIRECTIONS;
  const k = Math.min(DIRECTIONS - 1, Math.floor(indexInLengths));
  const before = biopsy.arcLengths[k] as number;
  const after = biopsy.arcLengths[k + 1] as number;
  out.along = before + (after - before) * (indexInLengths - k);
  const turn = direction - biopsy.surfaceDirection;
  const angleFromSurface = Math.abs(Math.atan2(Math.sin(turn), Math.cos(turn))); // 0…π
  /** 0 at the surface with epithelium, 1 where the outline is torn. */
  const torn = smoothStep(biopsy.halfSurfaceSpan - 0.05, biopsy.halfSurfaceSpan + 0.1, angleFromSurface);
  // The part with epithelium is not a cut edge: there, 100 pixels keep the distance large. Where the outline is torn, the edge is
  // 20 pixels farther inside than the outline, and up to 70 pixels of noise make it ragged.
  out.distanceFromEdge = depth + 100 - torn * (120 - 70 * roughNoiseAt(biopsy.seed + 2, x / 160, y / 160, 3));
  out.depth = depth + torn * 900; // no surface with epithelium is near a torn outline
  return out;
}

/** Returns a point of the outline on the slide and the inward direction there as a unit vector. */
export function outlinePoint(biopsy: Biopsy, direction: number) {
  const cos = Math.cos(biopsy.angle);
  const sin = Math.sin(biopsy.angle);
  const outline = outlineAt(biopsy, direction);
  const alongLong = biopsy.long * Math.cos(direction) * outline;
  const alongShort = biopsy.short * Math.sin(direction) * outline;
  const nx = -Math.cos(direction) / biopsy.long;
  const ny = -Math.sin(direction) / biopsy.short;
  const length = Math.hypot(nx, ny);
  return {
    x: biopsy.x + alongLong * cos - alongShort * sin,
    y: biopsy.y + alongLong * sin + alongShort * cos,
    inwardX: (nx * cos - ny * sin) / length,
    inwardY: (nx * sin + ny * cos) / length,
  };
}

/** Places the crypts of a biopsy in cross-section, close together. @param height height of the epithelium, pixels */
export function placeCutCrypts(random: Random, biopsy: Biopsy, height: number): Gland[] {
  const glands: Gland[] = [];
  const spacing = 262; // pixels between the centres of crypts
  const slant = between(random, 0, Math.PI); // mean direction of the crypts on the slide
  // Rows and columns of a hexagonal grid that covers more than the largest biopsy.
  for (let row = -9; row <= 9; row++) {
    for (let column = -14; column <= 14; column++) {
      const x = biopsy.x + (column + (row & 1) * 0.5 + between(random, -0.09, 0.09)) * spacing;
      const y = biopsy.y + (row * 0.93 + between(random, -0.08, 0.08)) * spacing;
      const position = locateInBiopsy(biopsy, x, y, { distanceFromEdge: 0, depth: 0, along: 0 });
      // Crypts keep away from torn edges and from the surface; 5 % are missing.
      if (position.distanceFromEdge < 190 || position.depth < 235) continue;
      if (randomAt(biopsy.seed, column, row) < 0.05) continue;
      const angle = slant + between(random, -0.35, 0.35);
      const length = random() ** 2 * 46; // of the crypt's axis in the section: short, because the crypt is cut across
      const gland = {
        seed: Math.floor(random() * 1e7),
        x: x - (Math.cos(angle) * length) / 2,
        y: y - (Math.sin(angle) * length) / 2,
        dx: Math.cos(angle),
        dy: Math.sin(angle),
        length,
        lumenRadius: between(random, 8, 22),
        height,
        bend: 0,
        opensAtSurface: false,
        cellWidth: between(random, 43, 50),
        gobletShare: between(random, 0.42, 0.64),
      };
      // Healthy crypts do not touch, so a crypt that would touch another is narrowed or omitted. `free` is the distance from
      // the centre of the crypt to the nearest epithelium of another crypt.
      const free = Math.min(
        ...glands.map((other) => locateInGland(other, x, y, { depth: 0, along: 0, side: 1 }).depth - height),
      );
      const narrower = { ...gland, x, y, length: 0, lumenRadius: 7 }; // an axis of length 0: cut exactly across
      const fitting = [gland, narrower].find(
        (crypt) => free > crypt.length / 2 + crypt.lumenRadius + height + 10,
      );
      if (fitting !== undefined) glands.push(fitting);
    }
  }
  return glands;
}
