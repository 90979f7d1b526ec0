/**
 * Boolean operations on rings with integer coordinates, by Clipper2 (docs/decisions/0020-which-library-clips-polygons.md).
 * Coordinates are rounded to a grid of 100 steps per pixel, which keeps the two decimals that QuPath writes.
 */
import { Clipper64, ClipType, FillRule, PathType } from 'clipper2-ts';
import type { Position, Ring } from '../model/geometry.ts';

export interface GridPoint {
  readonly x: number;
  readonly y: number;
}

/** A ring on the grid without its closing position. */
export type GridRing = readonly GridPoint[];

/** Steps of the grid per pixel. */
export const gridSteps = 100;

export type BooleanOperation = 'union' | 'subtract' | 'intersect';

const clipTypes = {
  union: ClipType.Union,
  subtract: ClipType.Difference,
  intersect: ClipType.Intersection,
} as const;

/** Converts a coordinate from pixels to grid steps, rounded. */
export const toGrid = (value: number): number => Math.round(value * gridSteps);
/** Converts a coordinate from grid steps to pixels. */
export const fromGrid = (value: number): number => value / gridSteps;

/** Converts a closed ring in pixels to a ring on the grid, without the closing position. */
export function toGridRing(ring: readonly Position[]): GridRing {
  const points: GridPoint[] = [];
  for (let index = 0; index < ring.length - 1; index++) {
    const [x, y] = ring[index] ?? [0, 0];
    points.push({ x: toGrid(x), y: toGrid(y) });
  }
  return points;
}

/** Converts a ring on the grid to a closed ring in pixels. */
export function fromGridRing(points: GridRing): Ring {
  const ring = points.map(({ x, y }): Position => [fromGrid(x), fromGrid(y)]);
  const [first] = ring;
  return first ? [...ring, first] : ring;
}

/**
 * Combines areas. Rings fill by the nonzero rule: a ring that crosses itself covers its loops, and a hole is a ring of the
 * opposite direction.
 *
 * @returns rings that do not cross: outer rings with positive and holes with negative signed area
 */
export function clipRings(
  operation: BooleanOperation,
  subject: readonly GridRing[],
  clip: readonly GridRing[],
): readonly GridRing[] {
  const clipper = new Clipper64();
  // With the default, true, clipper2-ts 2.0.1 loops endlessly on horizontal edges that run back over themselves.
  clipper.preserveCollinear = false;
  // The library does not change its input, although its types require mutable arrays.
  if (subject.length > 0) clipper.addPaths(subject as GridPoint[][], PathType.Subject);
  if (clip.length > 0) clipper.addPaths(clip as GridPoint[][], PathType.Clip);
  const solution: GridPoint[][] = [];
  clipper.execute(clipTypes[operation], FillRule.NonZero, solution);
  return solution.filter((ring) => ring.length >= 3);
}
