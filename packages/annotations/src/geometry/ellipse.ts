import type { AreaGeometry, PolygonGeometry, Position } from '../model/geometry.ts';
import { type Bounds, boundsOfPositions } from './ring.ts';

/** Ellipses are stored as polygons at most this many pixels away from the ellipse, unless that needs more than `maximumVertices`. */
const tolerance = 0.1;
/** The number of vertices is a multiple of 4: then the polygon has the bounding box of the ellipse, from which QuPath restores it. */
const minimumVertices = 16;
const maximumVertices = 512;

/** Returns the ellipse that fills a rectangle, as a polygon with `isEllipse`. */
export function createEllipse({ minX, minY, maxX, maxY }: Bounds): PolygonGeometry {
  const radiusX = (maxX - minX) / 2;
  const radiusY = (maxY - minY) / 2;
  const radius = Math.max(radiusX, radiusY, tolerance);
  // The middle of an edge of a polygon with n vertices is radius × (1 - cos(π / n)) away from the circle.
  const neededVertices = Math.PI / Math.acos(Math.max(0, 1 - tolerance / radius));
  const count = Math.min(maximumVertices, Math.max(minimumVertices, Math.ceil(neededVertices / 4) * 4));
  const ring = Array.from({ length: count }, (_, index): Position => {
    // At quarter turns, the sine or the cosine must be exactly 0, but Math.sin(Math.PI) is 1.2e-16.
    const quarterTurns = (index * 4) / count;
    const angle = (quarterTurns * Math.PI) / 2;
    const cosine = quarterTurns % 2 === 1 ? 0 : Math.cos(angle);
    const sine = quarterTurns % 2 === 0 ? 0 : Math.sin(angle);
    return [minX + radiusX * (1 + cosine), minY + radiusY * (1 + sine)];
  });
  const [first = [minX, minY] as const] = ring;
  return { type: 'Polygon', coordinates: [[...ring, first]], isEllipse: true };
}

/** Returns an ellipse as an ordinary polygon, created again from its bounding box; returns other shapes unchanged. */
export function expandEllipse(geometry: AreaGeometry): AreaGeometry {
  if (geometry.type !== 'Polygon' || !geometry.isEllipse) return geometry;
  const { coordinates } = createEllipse(boundsOfPositions(geometry.coordinates.flat()));
  return { type: 'Polygon', coordinates, ...(geometry.plane && { plane: geometry.plane }) };
}
