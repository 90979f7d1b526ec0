import type { AreaGeometry, PolygonGeometry, Position } from '../model/geometry.ts';
import { type Bounds, boundsOfPositions } from './ring.ts';

/** Largest distance in pixels between the polygon and the ellipse. */
const tolerance = 0.1;
/** Multiples of 4, so that the polygon has the bounding box of the ellipse, from which QuPath restores the ellipse. */
const minimumVertices = 16;
const maximumVertices = 512;

/** Creates the ellipse that fills a rectangle as a polygon with `isEllipse`. */
export function createEllipse({ minX, minY, maxX, maxY }: Bounds): PolygonGeometry {
  const radiusX = (maxX - minX) / 2;
  const radiusY = (maxY - minY) / 2;
  const radius = Math.max(radiusX, radiusY, tolerance);
  const wanted = Math.PI / Math.acos(Math.max(0, 1 - tolerance / radius));
  const count = Math.min(maximumVertices, Math.max(minimumVertices, Math.ceil(wanted / 4) * 4));
  const ring = Array.from({ length: count }, (_, index): Position => {
    // Quarter turns by comparison: the sine of pi in floating point is not 0.
    const quarter = (index * 4) / count;
    const angle = (quarter * Math.PI) / 2;
    const cosine = quarter % 2 === 1 ? 0 : Math.cos(angle);
    const sine = quarter % 2 === 0 ? 0 : Math.sin(angle);
    return [minX + radiusX * (1 + cosine), minY + radiusY * (1 + sine)];
  });
  const [first = [minX, minY] as const] = ring;
  return { type: 'Polygon', coordinates: [[...ring, first]], isEllipse: true };
}

/** Returns the shape as plain rings: an ellipse becomes the polygon of its bounding box, everything else stays. */
export function expandEllipse(geometry: AreaGeometry): AreaGeometry {
  if (geometry.type !== 'Polygon' || !geometry.isEllipse) return geometry;
  const { coordinates } = createEllipse(boundsOfPositions(geometry.coordinates.flat()));
  return { type: 'Polygon', coordinates, ...(geometry.plane && { plane: geometry.plane }) };
}
