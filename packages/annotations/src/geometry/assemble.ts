/** Builds polygons from rings: decides which rings are holes, and in which outer ring each hole belongs. */
import type { AreaGeometry, Plane, Position, Ring, Rings } from '../model/geometry.ts';
import { type Bounds, boundsOfLines, ringContains, signedArea } from './ring.ts';

interface Outer {
  readonly ring: Ring;
  readonly bounds: Bounds;
  readonly area: number;
  readonly holes: Ring[];
}

/**
 * Builds an area from rings that do not cross. Rings with a positive signed area are outer rings; a ring with a negative area is
 * a hole of the smallest outer ring around it. Rings of area 0 are dropped.
 *
 * @returns null when no ring has a positive area
 */
export function assembleArea(rings: readonly Ring[], plane: Plane | undefined): AreaGeometry | null {
  const outers: Outer[] = [];
  const holes: Ring[] = [];
  for (const ring of rings) {
    const area = signedArea(ring);
    if (area > 0) outers.push({ ring, area, bounds: boundsOfLines([ring]), holes: [] });
    else if (area < 0) holes.push(ring);
  }
  outers.sort((a, b) => a.area - b.area);
  for (const hole of holes) findOuter(outers, hole)?.holes.push(hole);
  const polygons = outers.map(({ ring, holes: ownHoles }): Rings => [ring, ...ownHoles]);
  const [firstPolygon] = polygons;
  if (!firstPolygon) return null;
  const onPlane = plane && { plane };
  return polygons.length === 1
    ? { type: 'Polygon', coordinates: firstPolygon, ...onPlane }
    : { type: 'MultiPolygon', coordinates: polygons, ...onPlane };
}

/** Returns the smallest outer ring around a hole; undefined when there is none. */
function findOuter(ascendingByArea: readonly Outer[], hole: Ring): Outer | undefined {
  const bounds = boundsOfLines([hole]);
  const area = -signedArea(hole);
  const candidates = ascendingByArea.filter(
    (outer) =>
      outer.area >= area &&
      outer.bounds.minX <= bounds.minX &&
      outer.bounds.minY <= bounds.minY &&
      outer.bounds.maxX >= bounds.maxX &&
      outer.bounds.maxY >= bounds.maxY,
  );
  // Every hole lies in an outer ring, so a single candidate needs no test.
  return candidates.length === 1 ? candidates[0] : candidates.find(({ ring }) => containsHole(ring, hole));
}

/** Maximum number of edges of a hole that are tested to find its outer ring. */
const testedEdges = 5;

/**
 * Returns whether most of the midpoints of a hole's first edges are inside the outer ring. The vertices of the hole are
 * not tested, because they may touch the outer ring.
 */
function containsHole(outer: Ring, hole: Ring): boolean {
  let votes = 0;
  for (let index = 0; index < Math.min(hole.length - 1, testedEdges); index++) {
    const [x0, y0] = hole[index] ?? [0, 0];
    const [x1, y1] = hole[index + 1] ?? [0, 0];
    const middle: Position = [(x0 + x1) / 2, (y0 + y1) / 2];
    votes += ringContains(outer, middle) ? 1 : -1;
  }
  return votes > 0;
}
