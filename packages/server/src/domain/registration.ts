/** Transforms between two slides, computed from pairs of points by least squares. */
import type { RegistrationMatrix } from '@lamina/contract';

export type Point = readonly [x: number, y: number];

export interface PointPair {
  readonly from: Point;
  readonly to: Point;
}

/** Below this share of the spread along the other axis, points count as lying on one line. */
const flatness = 1e-9;

/**
 * Returns the transform that maps `from` to `to` best: affine for three or more pairs, a similarity (rotation, scale and
 * shift) for two. Null when the points do not determine one.
 */
export function registrationOf(pairs: readonly PointPair[]): RegistrationMatrix | null {
  const from = centreOf(pairs.map((pair) => pair.from));
  const to = centreOf(pairs.map((pair) => pair.to));
  // Centred coordinates keep the sums small and the equations separate from the shift.
  const centred = pairs.map((pair) => ({
    x: pair.from[0] - from[0],
    y: pair.from[1] - from[1],
    u: pair.to[0] - to[0],
    v: pair.to[1] - to[1],
  }));
  const linear = pairs.length < 3 ? similarityOf(centred) : affineOf(centred);
  if (linear === null || linear.some((value) => !Number.isFinite(value))) return null;
  const [a, b, c, d] = linear;
  return [a, b, c, d, to[0] - a * from[0] - c * from[1], to[1] - b * from[0] - d * from[1]];
}

export function transformPoint([a, b, c, d, e, f]: RegistrationMatrix, [x, y]: Point): Point {
  return [a * x + c * y + e, b * x + d * y + f];
}

/** Returns the root mean square distance of the pairs after the transform, in the unit of `pixelSize`. */
export function residualOf(
  matrix: RegistrationMatrix,
  pairs: readonly PointPair[],
  pixelSize: { readonly x: number; readonly y: number },
): number {
  const squares = pairs.map(({ from, to }) => {
    const [x, y] = transformPoint(matrix, from);
    return ((x - to[0]) * pixelSize.x) ** 2 + ((y - to[1]) * pixelSize.y) ** 2;
  });
  return Math.sqrt(squares.reduce((sum, square) => sum + square, 0) / squares.length);
}

type Linear = readonly [a: number, b: number, c: number, d: number];

interface CentredPair {
  readonly x: number;
  readonly y: number;
  readonly u: number;
  readonly v: number;
}

function similarityOf(pairs: readonly CentredPair[]): Linear | null {
  const spread = sum(pairs, ({ x, y }) => x * x + y * y);
  const a = sum(pairs, ({ x, y, u, v }) => x * u + y * v) / spread;
  const b = sum(pairs, ({ x, y, u, v }) => x * v - y * u) / spread;
  // Without a distance between the points there is no scale.
  return spread === 0 || (a === 0 && b === 0) ? null : [a, b, -b, a];
}

function affineOf(pairs: readonly CentredPair[]): Linear | null {
  const xx = sum(pairs, ({ x }) => x * x);
  const xy = sum(pairs, ({ x, y }) => x * y);
  const yy = sum(pairs, ({ y }) => y * y);
  const determinant = xx * yy - xy * xy;
  if (determinant <= flatness * (xx + yy) ** 2) return null;
  const solve = (target: (pair: CentredPair) => number): readonly [number, number] => {
    const [tx, ty] = [
      sum(pairs, (pair) => pair.x * target(pair)),
      sum(pairs, (pair) => pair.y * target(pair)),
    ];
    return [(tx * yy - ty * xy) / determinant, (ty * xx - tx * xy) / determinant];
  };
  const [a, c] = solve(({ u }) => u);
  const [b, d] = solve(({ v }) => v);
  // A transform onto a line cannot be reversed.
  return Math.abs(a * d - b * c) <= flatness ? null : [a, b, c, d];
}

function centreOf(points: readonly Point[]): Point {
  const mean = (axis: 0 | 1) => points.reduce((total, point) => total + point[axis], 0) / points.length;
  return [mean(0), mean(1)];
}

function sum(pairs: readonly CentredPair[], value: (pair: CentredPair) => number): number {
  return pairs.reduce((total, pair) => total + value(pair), 0);
}
