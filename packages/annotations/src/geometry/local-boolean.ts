/**
 * Boolean operations of a large area with a small one, in the time of the small one: only the part of the large area in a
 * window around the small one is clipped. The rings of the large area are cut where they cross the window, the pieces inside
 * are combined with the small area, and the results are joined to the untouched pieces outside.
 *
 * A case that the cut cannot represent (two crossings at one position, a vertex on the window, rings that overlap) gives
 * null, and the caller clips everything.
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

/** Distance in grid steps between the small area and the window; several, because a vertex may lie on the window. */
const margins = [137, 171, 213, 259] as const;

/**
 * @param clip rings on the grid that fill by the nonzero rule
 * @returns the rings of the result, positive or negative as in `assembleArea`, or null when the operation needs the whole area
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

function clipInWindow(
  operation: BooleanOperation,
  subject: AreaGeometry,
  clip: readonly GridRing[],
  window: Bounds,
): readonly Ring[] | null | 'vertex-on-window' {
  const untouched: Ring[] = [];
  const closed: GridRing[] = [];
  const inside: Piece[] = [];
  const outside: Piece[] = [];
  const windowInPixels = scaleBounds(window);
  for (const [ring, sign] of orientedRings(subject)) {
    const oriented = orientRing(ring, sign);
    if (!boundsTouch(boundsOfLines([ring]), windowInPixels)) {
      untouched.push(oriented);
      continue;
    }
    const cut = cutRing(oriented, window);
    if (cut === 'vertex-on-window') return cut;
    if (cut === null) return null;
    if (cut === 'inside') closed.push(toGridRing(oriented));
    else if (cut.inside.length === 0) untouched.push(oriented);
    else {
      inside.push(...cut.inside);
      outside.push(...cut.outside);
    }
  }
  const borders = closeAlongWindow(inside, window);
  if (borders === null) return null;
  const corner: Position = [fromGrid(window.minX), fromGrid(window.minY)];
  const isInMiddle = inside.length === 0 && containsPosition(subject, corner);
  const part = [...borders, ...closed, ...(isInMiddle ? [ringOfWindow(window)] : [])];
  const combined = clipRings(operation, part, clip);
  if (operation === 'intersect') return combined.map(fromGridRing);
  const joined = joinPieces(combined, outside, window);
  return joined && [...untouched, ...joined];
}

/** Yields every ring with the sign that its area should have: 1 for outer rings, -1 for holes. */
function* orientedRings(subject: AreaGeometry): Generator<readonly [Ring, 1 | -1]> {
  for (const rings of polygonsOf(subject)) {
    for (const [index, ring] of rings.entries()) yield [ring, index === 0 ? 1 : -1];
  }
}

function scaleBounds({ minX, minY, maxX, maxY }: Bounds): Bounds {
  // One step more, because vertices are rounded to the grid.
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
