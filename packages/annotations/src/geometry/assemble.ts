/** Builds polygons from rings: decides which rings are holes, and in which outer ring each hole belongs. */
import type { AreaGeometry, Plane, PolygonRings, Position, Ring } from '../model/geometry.ts';
import { type Bounds, boundsOfLines, ringContains, signedArea } from './ring.ts';

interface OuterRing {
  readonly ring: Ring;
  readonly bounds: Bounds;
  readonly area: number;
  readonly holes: Ring[];
}

/**
 * Builds an area from rings that do not cross. Rings with a positive signed area are outer rings; a ring with a negative area is
 * a hole of the smallest outer ring around it. Rings of area 0 are dropped.
 *
 * @param plane the image plane of the area; undefined: the default plane
 * @returns null when no ring has a positive area
 */
export function assembleArea(rings: readonly Ring[], plane?: Plane): AreaGeometry | null {
  const outers: OuterRing[] = [];
  const holes: Ring[] = [];
  for (const ring of rings) {
    const area = signedArea(ring);
    if (area > 0) outers.push({ ring, area, bounds: boundsOfLines([ring]), holes: [] });
    else if (area < 0) holes.push(ring);
  }
  outers.sort((a, b) => a.area - b.area);
  for (const hole of holes) findOuterRing(outers, hole)?.holes.push(hole);
  const polygons = outers.map(({ ring, holes: ownHoles }): PolygonRings => [ring, ...ownHoles]);
  const [firstPolygon] = polygons;
  if (!firstPolygon) return null;
  const onPlane = plane && { plane };
  return polygons.length === 1
    ? { type: 'Polygon', coordinates: firstPolygon, ...onPlane }
    : { type: 'MultiPolygon', coordinates: polygons, ...onPlane };
}

/** Returns the smallest outer ring around a hole; undefined when there is none. */
function findOuterRing(ascendingByArea: readonly OuterRing[], hole: Ring): OuterRing | undefined {
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
  // The rings do not cross and every hole lies in an outer ring, so a single candidate needs no test.
  return candidates.length === 1 ? candidates[0] : candidates.find(({ ring }) => containsHole(ring, hole));
}

/** Maximum number of edges of a hole that `containsHole` tests. */
const testedEdges = 5;
const origin: Position = [0, 0];

/**
 * Returns whether most of the midpoints of a hole's first edges are inside the outer ring. The vertices of the hole are
 * not tested, because they may touch the outer ring. Both rings are closed.
 */
export function containsHole(outer: Ring, hole: Ring): boolean {
  const edges = Math.min(hole.length - 1, testedEdges);
  let inside = 0;
  let outside = 0;
  while (inside * 2 <= edges && outside * 2 < edges) {
    const start = hole[inside + outside] ?? origin;
    const end = hole[inside + outside + 1] ?? origin;
    const middle: Position = [(start[0] + end[0]) / 2, (start[1] + end[1]) / 2];
    if (ringContains(outer, middle)) inside++;
    else outside++;
  }
  return inside * 2 > edges;
}
