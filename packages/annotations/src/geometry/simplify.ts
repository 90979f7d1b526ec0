import { type AreaGeometry, type Geometry, type Position, polygonsOf, type Ring } from '../model/geometry.ts';
import { repairArea } from './booleans.ts';
import { areaOf } from './measure.ts';
import { isSelfIntersecting } from './self-intersections.ts';

/**
 * Returns the geometry without the positions that are at most `tolerance` pixels from the simplified line. Rings keep at least
 * four positions. An area that would cross itself afterwards is repaired. If the repair fails or nothing would remain,
 * the function returns the original area. Points and ellipses do not change.
 *
 * Source: Douglas and Peucker 1973.
 */
export function simplifyGeometry(geometry: Geometry, tolerance: number): Geometry {
  switch (geometry.type) {
    case 'Point':
    case 'MultiPoint':
      return geometry;
    case 'LineString':
      return { ...geometry, coordinates: simplifyLine(geometry.coordinates, tolerance) };
    case 'MultiLineString':
      return { ...geometry, coordinates: geometry.coordinates.map((line) => simplifyLine(line, tolerance)) };
    case 'Polygon':
    case 'MultiPolygon':
      return geometry.type === 'Polygon' && geometry.isEllipse ? geometry : simplifyArea(geometry, tolerance);
  }
}

function simplifyArea(area: AreaGeometry, tolerance: number): AreaGeometry {
  const polygons = polygonsOf(area).map((rings) => rings.map((ring) => simplifyRing(ring, tolerance)));
  const [firstPolygon = []] = polygons;
  const simplified: AreaGeometry =
    area.type === 'Polygon' ? { ...area, coordinates: firstPolygon } : { ...area, coordinates: polygons };
  if (!isSelfIntersecting(simplified)) return areaOf(simplified) > 0 ? simplified : area;
  const repaired = repairArea(simplified);
  // The repair rounds positions to 1/100 pixel, so parts thinner than that can cross again, or vanish.
  return repaired !== null && areaOf(repaired) > 0 && !isSelfIntersecting(repaired) ? repaired : area;
}

/** Divides the ring at its first position and at the position farthest from it, and simplifies both parts. */
function simplifyRing(ring: Ring, tolerance: number): Ring {
  const [first] = ring;
  if (!first || ring.length <= 4) return ring;
  let farthestIndex = 0;
  let farthestDistance = -1;
  for (const [index, position] of ring.entries()) {
    const distance = Math.hypot(position[0] - first[0], position[1] - first[1]);
    if (distance > farthestDistance) {
      farthestDistance = distance;
      farthestIndex = index;
    }
  }
  const firstPart = simplifyLine(ring.slice(0, farthestIndex + 1), tolerance);
  const secondPart = simplifyLine(ring.slice(farthestIndex), tolerance);
  const simplified = [...firstPart, ...secondPart.slice(1)];
  return simplified.length >= 4 ? simplified : ring;
}

/** Simplifies a line as `simplifyGeometry` does; its first and its last position stay. */
export function simplifyLine(line: readonly Position[], tolerance: number): readonly Position[] {
  const isKept = new Uint8Array(line.length);
  isKept[0] = 1;
  isKept[line.length - 1] = 1;
  const ranges: [start: number, end: number][] = [[0, line.length - 1]];
  for (let range = ranges.pop(); range; range = ranges.pop()) {
    const [start, end] = range;
    let farthestIndex = -1;
    let farthestDistance = tolerance;
    for (let index = start + 1; index < end; index++) {
      const distance = distanceToEdge(
        line[index] as Position,
        line[start] as Position,
        line[end] as Position,
      );
      if (distance > farthestDistance) {
        farthestDistance = distance;
        farthestIndex = index;
      }
    }
    if (farthestIndex < 0) continue;
    isKept[farthestIndex] = 1;
    ranges.push([start, farthestIndex], [farthestIndex, end]);
  }
  return line.filter((_, index) => isKept[index] === 1);
}

function distanceToEdge([x, y]: Position, [x0, y0]: Position, [x1, y1]: Position): number {
  const dx = x1 - x0;
  const dy = y1 - y0;
  const squaredLength = dx * dx + dy * dy;
  /** Where the nearest point of the edge lies: 0 at its start, 1 at its end. */
  const fraction =
    squaredLength === 0 ? 0 : Math.max(0, Math.min(1, ((x - x0) * dx + (y - y0) * dy) / squaredLength));
  return Math.hypot(x - x0 - fraction * dx, y - y0 - fraction * dy);
}
