/**
 * Computes the registration of two slides: the transform that maps points of one slide to the same tissue on the other. A user
 * marks pairs of corresponding points, and the transform is fitted to them by least squares.
 */
import type { RegistrationMatrix } from '@lamina/contract';

/** In pixels of full resolution. */
export type Point = readonly [x: number, y: number];

/** The same spot of tissue on both slides. */
export interface PointPair {
  readonly from: Point;
  readonly to: Point;
}

/** These values count as 0 up to this limit: the determinant of the result, and that of the scatter matrix divided by its squared trace. */
const collinearityTolerance = 1e-9;

/**
 * Returns the transform that maps the `from` points best to the `to` points: an affine transform for three or more pairs, a
 * similarity (rotation, scale and shift) for two.
 *
 * @returns the matrix, as `transformPoint` applies it; null when the points do not determine a transform, for example if
 *   they are equal, or if all points of three or more pairs are on one line, or when an entry of the matrix is not finite
 */
export function registrationOf(pairs: readonly PointPair[]): RegistrationMatrix | null {
  const [fromCentreX, fromCentreY] = centreOf(pairs.map((pair) => pair.from));
  const [toCentreX, toCentreY] = centreOf(pairs.map((pair) => pair.to));
  // Relative to the centres, the transform has no shift, and the sums below stay small.
  const centredPairs = pairs.map((pair) => ({
    x: pair.from[0] - fromCentreX,
    y: pair.from[1] - fromCentreY,
    u: pair.to[0] - toCentreX,
    v: pair.to[1] - toCentreY,
  }));
  const linear = pairs.length < 3 ? similarityOf(centredPairs) : affineOf(centredPairs);
  if (linear === null) return null;
  const [a, b, c, d] = linear;
  const shiftX = toCentreX - a * fromCentreX - c * fromCentreY;
  const shiftY = toCentreY - b * fromCentreX - d * fromCentreY;
  const matrix: RegistrationMatrix = [a, b, c, d, shiftX, shiftY];
  return matrix.every(Number.isFinite) ? matrix : null;
}

/** Applies a transform to a point: (a·x + c·y + e, b·x + d·y + f). */
export function transformPoint([a, b, c, d, e, f]: RegistrationMatrix, [x, y]: Point): Point {
  return [a * x + c * y + e, b * x + d * y + f];
}

/**
 * Returns the residual error of a registration: the root mean square distance between the transformed `from` points and the
 * `to` points.
 *
 * @param pixelSize size of a pixel of the second slide; its unit is the unit of the result
 */
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

/** Maps (x, y) to (a·x + c·y, b·x + d·y). */
type LinearMap = readonly [a: number, b: number, c: number, d: number];

/** A pair of points, each relative to the centre of the points on its slide: (x, y) maps to (u, v). */
interface CentredPair {
  readonly x: number;
  readonly y: number;
  readonly u: number;
  readonly v: number;
}

/** Returns the similarity with the smallest sum of squared distances; null when the points do not determine one. */
function similarityOf(pairs: readonly CentredPair[]): LinearMap | null {
  const spread = sum(pairs, ({ x, y }) => x * x + y * y);
  const a = sum(pairs, ({ x, y, u, v }) => x * u + y * v) / spread;
  const b = sum(pairs, ({ x, y, u, v }) => x * v - y * u) / spread;
  // Equal points on one of the slides do not determine a scale.
  return spread === 0 || (a === 0 && b === 0) ? null : [a, b, -b, a];
}

/** Returns the affine map with the smallest sum of squared distances; null for collinear points. */
function affineOf(pairs: readonly CentredPair[]): LinearMap | null {
  const xx = sum(pairs, ({ x }) => x * x);
  const xy = sum(pairs, ({ x, y }) => x * y);
  const yy = sum(pairs, ({ y }) => y * y);
  const determinant = xx * yy - xy * xy; // of the scatter matrix [[xx, xy], [xy, yy]]
  if (determinant <= collinearityTolerance * (xx + yy) ** 2) return null;

  // Solves the normal equations for the coefficients of x and y that approximate a target coordinate.
  const solve = (targetOf: (pair: CentredPair) => number): readonly [number, number] => {
    const xt = sum(pairs, (pair) => pair.x * targetOf(pair));
    const yt = sum(pairs, (pair) => pair.y * targetOf(pair));
    return [(xt * yy - yt * xy) / determinant, (yt * xx - xt * xy) / determinant];
  };
  const [a, c] = solve(({ u }) => u);
  const [b, d] = solve(({ v }) => v);
  // A transform that maps the plane onto a line cannot be inverted.
  return Math.abs(a * d - b * c) <= collinearityTolerance ? null : [a, b, c, d];
}

function centreOf(points: readonly Point[]): Point {
  const mean = (axis: 0 | 1) => points.reduce((total, point) => total + point[axis], 0) / points.length;
  return [mean(0), mean(1)];
}

function sum(pairs: readonly CentredPair[], value: (pair: CentredPair) => number): number {
  return pairs.reduce((total, pair) => total + value(pair), 0);
}
