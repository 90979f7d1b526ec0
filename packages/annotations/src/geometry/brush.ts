import { ClipperOffset, EndType, JoinType } from 'clipper2-ts';
import type { AreaGeometry, Position } from '../model/geometry.ts';
import { assembleArea } from './assemble.ts';
import { fromGridRing, type GridPoint, type GridRing, gridSteps, toGrid } from './clipping.ts';
import { simplifyLine } from './simplify.ts';

/** Maximum distance between the polygon of a stroke and the exact outline of the stroke, as a share of the brush radius. */
const relativeTolerance = 0.005;
/** Lower limit of this distance in pixels. */
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
  const line = path.length > 2 ? simplifyLine(path, tolerance / 2) : path; // deviates by half the tolerance at most
  return assembleArea(offsetLine(line, radius, tolerance).map(fromGridRing));
}

/** Returns the area within `radius` pixels of a line as rings that do not cross; arcs deviate by at most `tolerance` pixels. */
export function offsetLine(
  line: readonly Position[],
  radius: number,
  tolerance: number,
): readonly GridRing[] {
  const points = line.map(([x, y]): GridPoint => ({ x: toGrid(x), y: toGrid(y) }));
  if (points.length === 0) return [];
  const miterLimit = 2; // without effect on round joins
  const clipperOffset = new ClipperOffset(miterLimit, tolerance * gridSteps);
  clipperOffset.addPath(points, JoinType.Round, EndType.Round);
  const solution: GridPoint[][] = [];
  clipperOffset.execute(radius * gridSteps, solution);
  return solution.filter((ring) => ring.length >= 3);
}
