/**
 * Boolean operations of a large area with a small one, such as one stroke of a brush on an outline of 50,000 positions. Only the
 * part of the large area in a window around the small one is clipped: its rings are cut where they cross the window, the
 * pieces inside are combined with the small area, and the results are joined to the unchanged pieces outside. The time
 * depends mostly on the small area.
 *
 * The cut cannot represent two crossings at one position or rings that overlap. Then `clipLocally` returns null, and the caller
 * (`booleans.ts`) clips the whole areas.
 */
import { type AreaGeometry, type Position, polygonsOf, type Ring } from '../model/geometry.ts';
import {
  type BooleanOperation,
  clipRings,
  fromGrid,
  fromGridRing,
  type GridPoint,
  type GridRing,
  gridSteps,
  toGridRing,
} from './clipping.ts';
import { containsPosition } from './measure.ts';
import { type Bounds, boundsOfLines, boundsOfPositions, boundsTouch, orientRing } from './ring.ts';
import { closeAlongWindow, cutRing, type Piece } from './window-cut.ts';
import { joinPieces } from './window-join.ts';

/**
 * Distances in grid steps between the small area and the edge of the window. The next one is tried when a vertex of the large
 * area is exactly on the edge; the exact values do not matter.
 */
const margins = [137, 171, 213, 259] as const;

/**
 * Combines a large area with a small one by clipping in a window around the small one.
 *
 * @param subject the large area
 * @param clip rings of the small area, on the grid, that fill by the nonzero rule
 * @returns outer rings with positive and holes with negative signed area, or null when the whole areas must be clipped
 */
export function clipLocally(
  operation: BooleanOperation,
  subject: AreaGeometry,
  clip: readonly GridRing[],
): readonly Ring[] | null {
  const bounds = boundsOfPositions(clip.flat().map(({ x, y }): Position => [x, y]));
  for (const margin of margins) {
    const window = {
      minX: bounds.minX - margin,
      minY: bounds.minY - margin,
      maxX: bounds.maxX + margin,
      maxY: bounds.maxY + margin,
    };
    const result = clipInWindow(operation, subject, clip, window);
    if (result !== 'vertex-on-window') return result;
  }
  return null;
}

/** Does the work of `clipLocally` for one window. Returns 'vertex-on-window' when the caller should try a larger window. */
function clipInWindow(
  operation: BooleanOperation,
  subject: AreaGeometry,
  clip: readonly GridRing[],
  window: Bounds,
): readonly Ring[] | null | 'vertex-on-window' {
  const unchanged: Ring[] = [];
  const ringsInside: GridRing[] = [];
  const piecesInside: Piece[] = [];
  const piecesOutside: Piece[] = [];
  const windowInPixels = boundsInPixels(window);
  for (const [ring, sign] of ringsWithSigns(subject)) {
    const oriented = orientRing(ring, sign);
    if (!boundsTouch(boundsOfLines([ring]), windowInPixels)) {
      unchanged.push(oriented);
      continue;
    }
    const cut = cutRing(oriented, window);
    if (cut === 'vertex-on-window') return cut;
    if (cut === null) return null;
    if (cut === 'inside') ringsInside.push(toGridRing(oriented));
    else if (cut.inside.length === 0)
      unchanged.push(oriented); // the ring does not enter the window
    else {
      piecesInside.push(...cut.inside);
      piecesOutside.push(...cut.outside);
    }
  }
  const closedRings = closeAlongWindow(piecesInside, window);
  if (closedRings === null) return null;
  const corner: Position = [fromGrid(window.minX), fromGrid(window.minY)];
  // When no ring crosses the edge of the window, one corner tells whether the area covers the whole edge.
  const coversEdge = piecesInside.length === 0 && containsPosition(subject, corner);
  const subjectInWindow = [...closedRings, ...ringsInside, ...(coversEdge ? [ringOfWindow(window)] : [])];
  const combined = clipRings(operation, subjectInWindow, clip);
  // Nothing outside the window is common to both areas.
  if (operation === 'intersect') return combined.map(fromGridRing);
  const joined = joinPieces(combined, piecesOutside, window);
  return joined && [...unchanged, ...joined];
}

/** Yields every ring with the sign that its area should have: 1 for outer rings, -1 for holes. */
function* ringsWithSigns(subject: AreaGeometry): Generator<readonly [Ring, 1 | -1]> {
  for (const rings of polygonsOf(subject)) {
    for (const [index, ring] of rings.entries()) yield [ring, index === 0 ? 1 : -1];
  }
}

/** Converts bounds from grid steps to pixels, enlarged by one step on each side because vertices are rounded to the grid. */
function boundsInPixels({ minX, minY, maxX, maxY }: Bounds): Bounds {
  return {
    minX: (minX - 1) / gridSteps,
    minY: (minY - 1) / gridSteps,
    maxX: (maxX + 1) / gridSteps,
    maxY: (maxY + 1) / gridSteps,
  };
}

function ringOfWindow({ minX, minY, maxX, maxY }: Bounds): readonly GridPoint[] {
  return [
    { x: minX, y: minY },
    { x: maxX, y: minY },
    { x: maxX, y: maxY },
    { x: minX, y: maxY },
  ];
}
