/** Area and length in pixels or micrometres; centroid and bounds in pixels. */
import {
  type AreaGeometry,
  type Geometry,
  isArea,
  type PolygonRings,
  type Position,
  pathsOf,
  polygonsOf,
} from '../model/geometry.ts';
import { type Bounds, boundsOfLines, ringContains, signedArea } from './ring.ts';

/** Micrometres per pixel at full resolution. */
export interface PixelSize {
  readonly x: number;
  readonly y: number;
}

export interface GeometryMeasures {
  /** Square pixels; null for points and lines. */
  readonly areaPx: number | null;
  /** Square micrometres; null for points and lines, and without a pixel size. */
  readonly areaUm2: number | null;
  /** Pixels: the perimeter of an area with its holes, the length of a line; null for points. */
  readonly lengthPx: number | null;
  /** Micrometres; null for points, and without a pixel size. */
  readonly lengthUm: number | null;
  /** The centroid and the bounds are in pixels. */
  readonly centroid: Position;
  readonly bounds: Bounds;
}

/** The pixel size with which `lengthOf` returns pixels. */
const onePixel: PixelSize = { x: 1, y: 1 };

/** Measures a geometry; values in micrometres are null when the pixel size is null. */
export function measureGeometry(geometry: Geometry, pixelSize: PixelSize | null): GeometryMeasures {
  const area = isArea(geometry) ? areaOf(geometry) : null;
  const hasLength = geometry.type !== 'Point' && geometry.type !== 'MultiPoint';
  return {
    areaPx: area,
    areaUm2: area !== null && pixelSize ? area * pixelSize.x * pixelSize.y : null,
    lengthPx: hasLength ? lengthOf(geometry) : null,
    lengthUm: hasLength && pixelSize ? lengthOf(geometry, pixelSize) : null,
    centroid: centroidOf(geometry),
    bounds: boundsOf(geometry),
  };
}

export function boundsOf(geometry: Geometry): Bounds {
  return boundsOfLines(pathsOf(geometry));
}

/** Returns the area in square pixels, without the holes; wrong for rings that cross themselves (see `repairArea`). */
export function areaOf(geometry: AreaGeometry): number {
  // The axes of an ellipse are parallel to x and y, so its bounds define it; its ring only approximates it.
  if (geometry.type === 'Polygon' && geometry.isEllipse) {
    const { minX, minY, maxX, maxY } = boundsOf(geometry);
    return (Math.PI * (maxX - minX) * (maxY - minY)) / 4;
  }
  return polygonsOf(geometry).reduce((sum, rings) => sum + areaOfRings(rings), 0);
}

function areaOfRings(rings: PolygonRings): number {
  return rings.reduce((sum, ring, index) => sum + Math.abs(signedArea(ring)) * (index === 0 ? 1 : -1), 0);
}

/** Returns the length of lines or the perimeter of areas with their holes, in µm if `pixelSize` is given; 0 for points. */
export function lengthOf(geometry: Geometry, pixelSize: PixelSize = onePixel): number {
  if (geometry.type === 'Point' || geometry.type === 'MultiPoint') return 0;
  if (geometry.type === 'Polygon' && geometry.isEllipse) {
    const { minX, minY, maxX, maxY } = boundsOf(geometry);
    return perimeterOfEllipse(((maxX - minX) / 2) * pixelSize.x, ((maxY - minY) / 2) * pixelSize.y);
  }
  let length = 0;
  for (const path of pathsOf(geometry)) {
    let previous = path[0];
    for (const position of path) {
      if (previous) {
        const dx = position[0] - previous[0];
        const dy = position[1] - previous[1];
        length += Math.hypot(dx * pixelSize.x, dy * pixelSize.y);
      }
      previous = position;
    }
  }
  return length;
}

/** Returns the perimeter of an ellipse with the half-axes a and b. Source: Ramanujan 1914, second approximation. */
function perimeterOfEllipse(a: number, b: number): number {
  if (a + b === 0) return 0;
  const h = ((a - b) / (a + b)) ** 2;
  return Math.PI * (a + b) * (1 + (3 * h) / (10 + Math.sqrt(4 - 3 * h)));
}

/** Returns the centroid of an area (if it is 0, of its rings), the centroid of lines weighted by their length, or the mean of points. */
export function centroidOf(geometry: Geometry): Position {
  if (isArea(geometry)) return centroidOfArea(geometry) ?? centroidOfPaths(pathsOf(geometry));
  if (geometry.type === 'Point' || geometry.type === 'MultiPoint') return meanOf(pathsOf(geometry).flat());
  return centroidOfPaths(pathsOf(geometry));
}

/** Returns the centroid by the shoelace formula; null when the area is not positive. */
function centroidOfArea(geometry: AreaGeometry): Position | null {
  // Coordinates are relative to the first position, as in `signedArea`, because products of large coordinates would lose digits.
  const [originX, originY] = pathsOf(geometry)[0]?.[0] ?? [0, 0];
  let sumX = 0;
  let sumY = 0;
  let doubleArea = 0;
  for (const rings of polygonsOf(geometry)) {
    for (const [index, ring] of rings.entries()) {
      // Outer rings count as positive and holes as negative, in whichever direction they run.
      const sign = Math.sign(signedArea(ring)) * (index === 0 ? 1 : -1);
      let previous = ring[ring.length - 1];
      for (const position of ring) {
        if (previous) {
          const x0 = previous[0] - originX;
          const y0 = previous[1] - originY;
          const x1 = position[0] - originX;
          const y1 = position[1] - originY;
          const cross = (x0 * y1 - x1 * y0) * sign;
          sumX += (x0 + x1) * cross;
          sumY += (y0 + y1) * cross;
          doubleArea += cross;
        }
        previous = position;
      }
    }
  }
  return doubleArea > 0 ? [originX + sumX / (3 * doubleArea), originY + sumY / (3 * doubleArea)] : null;
}

/** Returns the centroid of lines, weighted by length; the mean of their positions when the length is 0. */
function centroidOfPaths(paths: readonly (readonly Position[])[]): Position {
  let sumX = 0;
  let sumY = 0;
  let totalLength = 0;
  for (const path of paths) {
    let previous = path[0];
    for (const position of path) {
      if (previous) {
        const length = Math.hypot(position[0] - previous[0], position[1] - previous[1]);
        sumX += ((position[0] + previous[0]) / 2) * length;
        sumY += ((position[1] + previous[1]) / 2) * length;
        totalLength += length;
      }
      previous = position;
    }
  }
  return totalLength > 0 ? [sumX / totalLength, sumY / totalLength] : meanOf(paths.flat());
}

function meanOf(positions: readonly Position[]): Position {
  let sumX = 0;
  let sumY = 0;
  for (const [x, y] of positions) {
    sumX += x;
    sumY += y;
  }
  return [sumX / positions.length, sumY / positions.length];
}

/** Returns whether a position is inside an area and outside its holes. */
export function containsPosition(geometry: AreaGeometry, position: Position): boolean {
  if (geometry.type === 'Polygon' && geometry.isEllipse) {
    const { minX, minY, maxX, maxY } = boundsOf(geometry);
    // Coordinates in which the ellipse is the unit circle.
    const x = (2 * position[0] - minX - maxX) / (maxX - minX);
    const y = (2 * position[1] - minY - maxY) / (maxY - minY);
    return x * x + y * y <= 1;
  }
  return polygonsOf(geometry).some(
    ([outer = [], ...holes]) =>
      ringContains(outer, position) && !holes.some((hole) => ringContains(hole, position)),
  );
}
