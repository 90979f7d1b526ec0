/**
 * Boolean operations on rings with integer coordinates, by Clipper2 (docs/decisions/0020-which-library-clips-polygons.md).
 * The grid has 100 steps per pixel, the two decimals that QuPath writes.
 */
import { Clipper64, ClipType, FillRule, PathType } from 'clipper2-ts';
import type { Position, Ring } from '../model/geometry.ts';

export interface GridPoint {
  readonly x: number;
  readonly y: number;
}

/** A ring on the grid without its closing position. */
export type GridRing = readonly GridPoint[];

export const gridSteps = 100;

export type BooleanOperation = 'union' | 'subtract' | 'intersect';

const clipTypes = {
  union: ClipType.Union,
  subtract: ClipType.Difference,
  intersect: ClipType.Intersection,
} as const;

export const toGrid = (value: number): number => Math.round(value * gridSteps);
export const fromGrid = (value: number): number => value / gridSteps;

/** Converts a closed ring. */
export function toGridRing(ring: readonly Position[]): GridRing {
  const points: GridPoint[] = [];
  for (let index = 0; index < ring.length - 1; index++) {
    const [x, y] = ring[index] ?? [0, 0];
    points.push({ x: toGrid(x), y: toGrid(y) });
  }
  return points;
}

/** Converts to a closed ring. */
export function fromGridRing(points: GridRing): Ring {
  const ring = points.map(({ x, y }): Position => [fromGrid(x), fromGrid(y)]);
  const [first] = ring;
  return first ? [...ring, first] : ring;
}

/**
 * Combines areas. Rings fill by the nonzero rule: a ring that crosses itself covers its loops, and a hole is a ring of the
 * opposite direction.
 *
 * @returns outer rings with positive, holes with negative area, none of which cross
 */
export function clipRings(
  operation: BooleanOperation,
  subject: readonly GridRing[],
  clip: readonly GridRing[],
): readonly GridRing[] {
  const clipper = new Clipper64();
  // With the default, horizontal edges that run back over themselves let version 2.0.1 loop endlessly.
  clipper.preserveCollinear = false;
  // The library does not change its input; its types do not say so.
  if (subject.length > 0) clipper.addPaths(subject as GridPoint[][], PathType.Subject);
  if (clip.length > 0) clipper.addPaths(clip as GridPoint[][], PathType.Clip);
  const solution: GridPoint[][] = [];
  clipper.execute(clipTypes[operation], FillRule.NonZero, solution);
  return solution.filter((ring) => ring.length >= 3);
}
