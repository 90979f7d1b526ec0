import { type AreaGeometry, type Geometry, type Position, polygonsOf, type Ring } from '../model/geometry.ts';
import { repairArea } from './booleans.ts';
import { areaOf } from './measure.ts';
import { isSelfIntersecting } from './self-intersections.ts';

/**
 * Removes positions that are nearer than the tolerance, in pixels, to the line that remains. Rings keep at least four
 * positions; an area that would cross itself afterwards is repaired, and stays as it is where that fails. Points and ellipses stay.
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
  const [only = []] = polygons;
  const simplified: AreaGeometry =
    area.type === 'Polygon' ? { ...area, coordinates: only } : { ...area, coordinates: polygons };
  if (!isSelfIntersecting(simplified)) return areaOf(simplified) > 0 ? simplified : area;
  const repaired = repairArea(simplified);
  // Repair rounds positions: what is thinner than that can cross again, or be gone.
  return repaired !== null && areaOf(repaired) > 0 && !isSelfIntersecting(repaired) ? repaired : area;
}

/** Divides the ring at its first position and the one farthest from it, and simplifies both halves. */
function simplifyRing(ring: Ring, tolerance: number): Ring {
  const [first] = ring;
  if (!first || ring.length <= 4) return ring;
  let farthest = 0;
  let distance = -1;
  for (const [index, position] of ring.entries()) {
    const candidate = Math.hypot(position[0] - first[0], position[1] - first[1]);
    if (candidate > distance) {
      distance = candidate;
      farthest = index;
    }
  }
  const half = simplifyLine(ring.slice(0, farthest + 1), tolerance);
  const rest = simplifyLine(ring.slice(farthest), tolerance);
  const simplified = [...half, ...rest.slice(1)];
  return simplified.length >= 4 ? simplified : ring;
}

/** Keeps the first and the last position. */
export function simplifyLine(line: readonly Position[], tolerance: number): readonly Position[] {
  const isKept = new Uint8Array(line.length);
  isKept[0] = 1;
  isKept[line.length - 1] = 1;
  const ranges: [number, number][] = [[0, line.length - 1]];
  for (let range = ranges.pop(); range; range = ranges.pop()) {
    const [start, end] = range;
    let farthest = -1;
    let distance = tolerance;
    for (let index = start + 1; index < end; index++) {
      const candidate = distanceToEdge(
        line[index] as Position,
        line[start] as Position,
        line[end] as Position,
      );
      if (candidate > distance) {
        distance = candidate;
        farthest = index;
      }
    }
    if (farthest < 0) continue;
    isKept[farthest] = 1;
    ranges.push([start, farthest], [farthest, end]);
  }
  return line.filter((_, index) => isKept[index] === 1);
}

function distanceToEdge([x, y]: Position, [x0, y0]: Position, [x1, y1]: Position): number {
  const dx = x1 - x0;
  const dy = y1 - y0;
  const squared = dx * dx + dy * dy;
  const t = squared === 0 ? 0 : Math.max(0, Math.min(1, ((x - x0) * dx + (y - y0) * dy) / squared));
  return Math.hypot(x - x0 - t * dx, y - y0 - t * dy);
}
