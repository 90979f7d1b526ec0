/** Validates a GeoJSON geometry: its structure, its size and the range of its coordinates. */
import type { Extent } from './feature.ts';
import { FeatureError } from './feature-error.ts';
import {
  type Geometry,
  type GeometryType,
  geometryTypes,
  type Plane,
  type PolygonRings,
  type Position,
  type Ring,
} from './geometry.ts';
import { annotationLimits } from './limits.ts';

/** Limits for the geometries of one feature. Parsing reduces `vertices` and `parts` by what it has read. */
export interface GeometryBudget {
  /** Positions that the feature may still have. */
  vertices: number;
  /** Rings, lines and polygons that the feature may still have. */
  parts: number;
  /** Largest absolute value of x and of y, pixels. */
  readonly maximumX: number;
  readonly maximumY: number;
}

/** Returns the budget of one feature; `extent` is null when the size of the slide is unknown. */
export function createBudget(extent: Extent | null): GeometryBudget {
  const { extentFactor, coordinate } = annotationLimits;
  return {
    vertices: annotationLimits.vertices,
    parts: annotationLimits.parts,
    maximumX: extent ? extent.width * extentFactor : coordinate,
    maximumY: extent ? extent.height * extentFactor : coordinate,
  };
}

/** Validates and copies a geometry. @param path the path of the geometry in the feature, for error messages @throws FeatureError */
export function parseGeometry(value: unknown, path: string, budget: GeometryBudget): Geometry {
  const { type, coordinates, plane, isEllipse } = asObject(value, path);
  if (!isGeometryType(type)) throw new FeatureError('geometry_type', `${path}.type`);
  const parsedPlane = parsePlane(plane, `${path}.plane`);
  if (isEllipse !== undefined && isEllipse !== null && typeof isEllipse !== 'boolean') {
    throw new FeatureError('wrong_type', `${path}.isEllipse`, { expected: 'boolean' });
  }
  if (isEllipse && type !== 'Polygon') throw new FeatureError('ellipse_not_polygon', `${path}.isEllipse`);
  const parsed = parseCoordinates(type, coordinates, `${path}.coordinates`, budget);
  return {
    ...parsed,
    ...(parsedPlane && { plane: parsedPlane }),
    ...(isEllipse && { isEllipse: true }),
  } as Geometry;
}

function parseCoordinates(
  type: GeometryType,
  coordinates: unknown,
  path: string,
  budget: GeometryBudget,
): Geometry {
  // The number in each call of `parsePositions` is the minimum number of positions.
  switch (type) {
    case 'Point':
      spend(budget, 'vertices', 1, path);
      return { type, coordinates: parsePosition(coordinates, path, null, budget) };
    case 'MultiPoint':
      return { type, coordinates: parsePositions(coordinates, path, 1, budget) };
    case 'LineString':
      return { type, coordinates: parsePositions(coordinates, path, 2, budget) };
    case 'MultiLineString':
      return {
        type,
        coordinates: parseParts(coordinates, path, budget, (line, linePath) =>
          parsePositions(line, linePath, 2, budget),
        ),
      };
    case 'Polygon':
      return { type, coordinates: parseRings(coordinates, path, budget) };
    case 'MultiPolygon':
      return {
        type,
        coordinates: parseParts(coordinates, path, budget, (rings, polygonPath) =>
          parseRings(rings, polygonPath, budget),
        ),
      };
  }
}

function parseRings(value: unknown, path: string, budget: GeometryBudget): PolygonRings {
  return parseParts(value, path, budget, (ring, ringPath) => parseRing(ring, ringPath, budget));
}

function parseRing(value: unknown, path: string, budget: GeometryBudget): Ring {
  // The minimum of 4 positions is checked below, because it has an error code of its own.
  const ring = parsePositions(value, path, 1, budget);
  const first = ring[0];
  const last = ring.at(-1);
  if (ring.length < 4) throw new FeatureError('ring_too_short', path, { minimum: 4 });
  if (first?.[0] !== last?.[0] || first?.[1] !== last?.[1]) throw new FeatureError('ring_not_closed', path);
  return ring;
}

/** Validates a list of rings, lines or polygons. An empty list counts as too few positions. */
function parseParts<Part>(
  value: unknown,
  path: string,
  budget: GeometryBudget,
  parsePart: (value: unknown, path: string) => Part,
): readonly Part[] {
  if (!Array.isArray(value)) throw new FeatureError('wrong_type', path, { expected: 'array' });
  if (value.length === 0) throw new FeatureError('too_few_positions', path, { minimum: 1 });
  spend(budget, 'parts', value.length, path);
  return value.map((part: unknown, index) => parsePart(part, `${path}[${index}]`));
}

function parsePositions(
  value: unknown,
  path: string,
  minimum: number,
  budget: GeometryBudget,
): readonly Position[] {
  if (!Array.isArray(value)) throw new FeatureError('wrong_type', path, { expected: 'array' });
  if (value.length < minimum) throw new FeatureError('too_few_positions', path, { minimum });
  spend(budget, 'vertices', value.length, path);
  const positions: Position[] = [];
  for (let index = 0; index < value.length; index++) {
    positions.push(parsePosition(value[index], path, index, budget));
  }
  return positions;
}

/**
 * Validates one position. A third and a fourth coordinate are dropped, as in QuPath; the focal plane is in `plane`. The function
 * runs for every vertex of a layer, so a valid position needs only four comparisons, which are false for NaN and infinities.
 *
 * @param index the index of the position in its list, for error messages; null for the position of a Point
 */
function parsePosition(value: unknown, path: string, index: number | null, budget: GeometryBudget): Position {
  if (!Array.isArray(value) || value.length < 2 || value.length > 4) throw wrongPosition(path, index);
  const x: unknown = value[0];
  const y: unknown = value[1];
  if (typeof x !== 'number' || typeof y !== 'number') throw wrongPosition(path, index);
  const { maximumX, maximumY } = budget;
  if (x <= maximumX && x >= -maximumX && y <= maximumY && y >= -maximumY) return [x, y];
  const positionPath = index === null ? path : `${path}[${index}]`;
  if (!Number.isFinite(x) || !Number.isFinite(y)) throw new FeatureError('not_finite', positionPath);
  throw new FeatureError('outside_extent', positionPath, { width: maximumX, height: maximumY });
}

function wrongPosition(path: string, index: number | null): FeatureError {
  return new FeatureError('not_a_position', index === null ? path : `${path}[${index}]`);
}

/** Returns null for the default plane, and when no plane is stated. */
function parsePlane(value: unknown, path: string): Plane | null {
  if (value === undefined || value === null) return null;
  const members = asObject(value, path);
  /** Validates one index of the plane; its default is also its minimum. */
  const parseIndex = (name: 'c' | 'z' | 't', fallback: number): number => {
    const index = members[name] ?? fallback;
    if (typeof index !== 'number' || !Number.isInteger(index)) {
      throw new FeatureError('wrong_type', `${path}.${name}`, { expected: 'integer' });
    }
    if (index < fallback || index > annotationLimits.plane) {
      throw new FeatureError('out_of_range', `${path}.${name}`, {
        minimum: fallback,
        maximum: annotationLimits.plane,
      });
    }
    return index;
  };
  const plane = { c: parseIndex('c', -1), z: parseIndex('z', 0), t: parseIndex('t', 0) };
  return plane.c === -1 && plane.z === 0 && plane.t === 0 ? null : plane;
}

/** Subtracts `count` from the budget. @throws FeatureError when less than `count` was left */
function spend(budget: GeometryBudget, resource: 'vertices' | 'parts', count: number, path: string): void {
  budget[resource] -= count;
  if (budget[resource] < 0) {
    throw new FeatureError(resource === 'vertices' ? 'too_many_vertices' : 'too_many_parts', path, {
      limit: annotationLimits[resource],
    });
  }
}

function isGeometryType(value: unknown): value is GeometryType {
  return (geometryTypes as readonly unknown[]).includes(value);
}

/** Returns the value as an object. @throws FeatureError when it is null, an array or not an object */
export function asObject(value: unknown, path: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new FeatureError('not_an_object', path);
  }
  return value as Readonly<Record<string, unknown>>;
}
