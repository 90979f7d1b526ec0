import { ClipperOffset, EndType, JoinType } from 'clipper2-ts';
import type { AreaGeometry, Position } from '../model/geometry.ts';
import { assembleArea } from './assemble.ts';
import { fromGridRing, type GridPoint, type GridRing, gridSteps, toGrid } from './clipping.ts';
import { simplifyLine } from './simplify.ts';

/** Largest distance in pixels between the outline of a stroke and the circles of the brush, as a part of the radius. */
const relativeTolerance = 0.005;
const minimumTolerance = 0.05;

/**
 * Returns the area that a round brush covers on its way along the positions.
 *
 * @param path positions of the centre of the brush; one position gives a circle
 * @param radius in pixels
 * @returns null for an empty path and for a radius that is too small to cover anything
 */
export function createStroke(path: readonly Position[], radius: number): AreaGeometry | null {
  const tolerance = Math.max(minimumTolerance, radius * relativeTolerance);
  const line = path.length > 2 ? simplifyLine(path, tolerance / 2) : path;
  return assembleArea(offsetLine(line, radius, tolerance).map(fromGridRing), undefined);
}

/** Returns the rings around a line, without crossings. */
export function offsetLine(
  line: readonly Position[],
  radius: number,
  tolerance: number,
): readonly GridRing[] {
  const points = line.map(([x, y]): GridPoint => ({ x: toGrid(x), y: toGrid(y) }));
  if (points.length === 0) return [];
  const offset = new ClipperOffset(2, tolerance * gridSteps);
  offset.addPath(points, JoinType.Round, EndType.Round);
  const solution: GridPoint[][] = [];
  offset.execute(radius * gridSteps, solution);
  return solution.filter((ring) => ring.length >= 3);
}
