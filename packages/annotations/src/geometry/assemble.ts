import type { AreaGeometry, Plane, Position, Ring, Rings } from '../model/geometry.ts';
import { type Bounds, boundsOfLines, ringContains, signedArea } from './ring.ts';

interface Outer {
  readonly ring: Ring;
  readonly bounds: Bounds;
  readonly area: number;
  readonly holes: Ring[];
}

/**
 * Builds an area from rings that do not cross: rings with positive area are outer rings, the others holes of the smallest
 * outer ring around them.
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
  const polygons = outers.map(({ ring, holes: own }): Rings => [ring, ...own]);
  const [only] = polygons;
  if (!only) return null;
  const onPlane = plane && { plane };
  return polygons.length === 1
    ? { type: 'Polygon', coordinates: only, ...onPlane }
    : { type: 'MultiPolygon', coordinates: polygons, ...onPlane };
}

function findOuter(ascending: readonly Outer[], hole: Ring): Outer | undefined {
  const bounds = boundsOfLines([hole]);
  const area = -signedArea(hole);
  const around = ascending.filter(
    (outer) =>
      outer.area >= area &&
      outer.bounds.minX <= bounds.minX &&
      outer.bounds.minY <= bounds.minY &&
      outer.bounds.maxX >= bounds.maxX &&
      outer.bounds.maxY >= bounds.maxY,
  );
  return around.length === 1 ? around[0] : around.find(({ ring }) => containsMost(ring, hole));
}

/** A hole may touch its outer ring at positions, so the middles of some of its edges decide. */
function containsMost(outer: Ring, hole: Ring): boolean {
  let votes = 0;
  for (let index = 0; index < Math.min(hole.length - 1, 5); index++) {
    const [x0, y0] = hole[index] ?? [0, 0];
    const [x1, y1] = hole[index + 1] ?? [0, 0];
    const middle: Position = [(x0 + x1) / 2, (y0 + y1) / 2];
    votes += ringContains(outer, middle) ? 1 : -1;
  }
  return votes > 0;
}
