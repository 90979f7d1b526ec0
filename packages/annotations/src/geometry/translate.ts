/** Moves and rounds the positions of a geometry. */
import type { Geometry, Position } from '../model/geometry.ts';

/** Returns the geometry with every position replaced by the result of `change`. */
export function mapPositions(geometry: Geometry, change: (position: Position) => Position): Geometry {
  switch (geometry.type) {
    case 'Point':
      return { ...geometry, coordinates: change(geometry.coordinates) };
    case 'MultiPoint':
    case 'LineString':
      return { ...geometry, coordinates: geometry.coordinates.map(change) };
    case 'MultiLineString':
    case 'Polygon':
      return { ...geometry, coordinates: geometry.coordinates.map((path) => path.map(change)) };
    case 'MultiPolygon':
      return {
        ...geometry,
        coordinates: geometry.coordinates.map((rings) => rings.map((ring) => ring.map(change))),
      };
  }
}

/** Returns the geometry moved by a distance in pixels. */
export function translateGeometry(geometry: Geometry, dx: number, dy: number): Geometry {
  return mapPositions(geometry, ([x, y]) => [x + dx, y + dy]);
}

/** Returns the geometry with coordinates rounded to two decimals, as QuPath writes them. */
export function roundGeometry(geometry: Geometry): Geometry {
  return mapPositions(geometry, ([x, y]) => [roundCoordinate(x), roundCoordinate(y)]);
}

/** Rounds to two decimals; never returns -0. */
export function roundCoordinate(value: number): number {
  return Math.round(value * 100) / 100 + 0; // -0 + 0 is 0
}
