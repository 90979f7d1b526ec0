/**
 * Converts parsed JSON to the objects of a result layer, such as detected cells. Reads GeoJSON features as QuPath (also before version
 * 0.4), StarDist and LazySlide write them, and contours of HoVerNet and CellViT. CellViT writes all cells of a class as one
 * MultiPolygon or MultiPoint, so a feature with many parts and no measurements becomes many objects.
 */
import { FlatRings } from './flat-rings.ts';
import { ImportRejectedError } from './problems.ts';
import { asObject, type Color, classKeys, classOf, type Json, maxTextLength, textOf } from './read-class.ts';
import type { ScannedObject } from './scan-features.ts';

export interface ResultObject {
  /** Rings of the outline as x, y, x, y, …, without a repeated last vertex. A point has no rings. */
  readonly rings: readonly (readonly number[])[];
  /** Centre, in the coordinates of the file like the rings. */
  readonly x: number;
  readonly y: number;
  readonly className: string | null; // null if the file states no class
  readonly classColor: Color | null; // null if the file states no colour
  readonly id: string | null;
  readonly measurements: readonly (readonly [name: string, value: number])[];
}

type Ring = number[];

/** A MultiPolygon without measurements that has more parts than this becomes one object for each part. */
const maxPartsOfObject = 64;
/** Largest absolute value of a coordinate, in the unit of the file. */
const maxCoordinate = 1e8;
const maxNesting = 16; // maximum depth of child objects within objects
const minDoubleArea = 1e-9; // twice the smallest area that does not count as 0, in squared units of the file

export interface ObjectReader {
  /** Sets the class names of numbered types, as HoVerNet and CellViT write them. */
  setTypeMap(map: unknown): void;
  /** Emits the objects of a feature or contour. @throws ImportRejectedError bad_geometry, damaged, too_complex */
  read(scanned: ScannedObject, emit: (object: ResultObject) => void): void;
}

export function createObjectReader(): ObjectReader {
  let typeNames: ReadonlyMap<string, string> = new Map();
  return {
    setTypeMap(map) {
      const entries = Object.entries(asObject(map) ?? {});
      typeNames = new Map(entries.map(([number, name]) => [number, String(name)]));
    },
    read({ value, key }, emit) {
      const json = asObject(value);
      if (json === null) throw new ImportRejectedError('damaged', 'A member of the list is not an object');
      if (Array.isArray(json.contour)) emit(contourOf(json, key, typeNames));
      else readFeature(json, emit, 0);
    },
  };
}

/** Emits the objects of a feature and of its child objects. A geometry without a feature is read like a feature without properties. */
function readFeature(json: Json, emit: (object: ResultObject) => void, nesting: number): void {
  if (nesting > maxNesting) throw new ImportRejectedError('too_complex', 'Objects are nested too deeply');
  const isFeature = json.type === 'Feature';
  const geometry = isFeature ? asObject(json.geometry) : json;
  const properties = (isFeature ? asObject(json.properties) : null) ?? {};
  if (geometry !== null) {
    const { className, classColor } = classOf(properties);
    const measurements = measurementsOf(properties);
    const id = idOf(json.id);
    const shapes = shapesOf(geometry, measurements.length > 0);
    for (const shape of shapes) {
      // Several objects would have the same id, so they get none.
      emit({ ...shape, className, classColor, measurements, id: shapes.length === 1 ? id : null });
    }
  }
  const children = properties.childObjects ?? properties.children;
  if (!Array.isArray(children)) return;
  for (const child of children) {
    const feature = asObject(child);
    if (feature !== null) readFeature(feature, emit, nesting + 1);
  }
}

/** Returns the id of a feature; null if it has none. QuPath 0.2 wrote the type of the object as id, e.g. `PathCellObject`. */
function idOf(id: unknown): string | null {
  if (typeof id === 'number') return String(id);
  const isId = typeof id === 'string' && !/^(?:Path\w+|TMACore)Object$/.test(id);
  return isId ? id.slice(0, maxTextLength) : null;
}

type Shape = Pick<ResultObject, 'rings' | 'x' | 'y'>;

/** Returns the shapes of a GeoJSON geometry: several for a MultiPoint, and for a large MultiPolygon without measurements. */
function shapesOf(geometry: Json, hasMeasurements: boolean): Shape[] {
  const { type, coordinates } = geometry as { type?: unknown; coordinates?: unknown };
  if (coordinates instanceof FlatRings) return [polygonOf([coordinates.rings.map(checkedRing)])]; // a Polygon
  if (!Array.isArray(coordinates))
    throw new ImportRejectedError('bad_geometry', `A ${String(type)} has no coordinates`);
  switch (type) {
    case 'Point':
      return [pointOf(coordinates)];
    case 'MultiPoint':
      return coordinates.map(pointOf);
    case 'Polygon':
      return [polygonOf([coordinates.map(ringOf)])];
    case 'MultiPolygon': {
      const parts = coordinates.map((part) => listOf(part).map(ringOf));
      if (parts.length > maxPartsOfObject && !hasMeasurements) return parts.map((part) => polygonOf([part]));
      return [polygonOf(parts)];
    }
    case 'LineString':
      return [lineOf([coordinates])];
    case 'MultiLineString':
      return [lineOf(coordinates)];
    default:
      throw new ImportRejectedError('bad_geometry', `Geometries of type ${String(type)} are not supported`);
  }
}

function listOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new ImportRejectedError('bad_geometry', 'Coordinates are missing');
  return value;
}

function checkedCoordinate(value: unknown): number {
  // The negated comparison also rejects NaN.
  if (typeof value !== 'number' || !(Math.abs(value) <= maxCoordinate)) {
    throw new ImportRejectedError('bad_geometry', 'A coordinate is not a number, or too far away');
  }
  return value;
}

function pointOf(position: unknown): Shape {
  const list = listOf(position);
  return { rings: [], x: checkedCoordinate(list[0]), y: checkedCoordinate(list[1]) };
}

/** Returns the ring of a list of GeoJSON positions. @throws ImportRejectedError bad_geometry */
function ringOf(positions: unknown): Ring {
  const list = listOf(positions);
  const ring: Ring = [];
  for (const position of list) {
    const xy = position as readonly unknown[] | null;
    ring.push(checkedCoordinate(xy?.[0]), checkedCoordinate(xy?.[1]));
  }
  return dropRepeatedEnd(ring);
}

/** Checks the coordinates of a ring, and drops a last vertex that repeats the first. @throws ImportRejectedError bad_geometry */
function checkedRing(ring: Ring): Ring {
  for (let i = 0; i < ring.length; i++) checkedCoordinate(ring[i]);
  return dropRepeatedEnd(ring);
}

/** Drops, in place, a last vertex that repeats the first. @throws ImportRejectedError bad_geometry if fewer than three are left */
function dropRepeatedEnd(ring: Ring): Ring {
  const lastX = ring.length - 2; // index of the x of the last vertex
  if (lastX > 0 && ring[0] === ring[lastX] && ring[1] === ring[lastX + 1]) ring.length = lastX;
  if (ring.length < 6) throw new ImportRejectedError('bad_geometry', 'A ring has fewer than three vertices');
  return ring;
}

/** Returns the shape of coordinates x, y, x, y, … @throws ImportRejectedError bad_geometry */
export function shapeOfCoordinates(
  graphic: 'point' | 'line' | 'polygon',
  coordinates: readonly number[],
): Shape {
  if (graphic === 'point') return pointOf(coordinates);
  if (graphic === 'polygon') return polygonOf([[checkedRing([...coordinates])]]);
  const positions = Array.from({ length: coordinates.length / 2 }, (_, n) =>
    coordinates.slice(2 * n, 2 * n + 2),
  );
  return lineOf([positions]);
}

/** Returns lines as one shape: each line becomes an outline without area, which follows the line to its end and back. */
function lineOf(lines: readonly unknown[]): Shape {
  const rings = lines.map((line) => {
    const vertices = listOf(line).map((position) => listOf(position));
    if (vertices.length < 2)
      throw new ImportRejectedError('bad_geometry', 'A line has fewer than two vertices');
    const wayBack = vertices.slice(1, -1).reverse();
    return [...vertices, ...wayBack].flatMap(([x, y]) => [checkedCoordinate(x), checkedCoordinate(y)]);
  });
  return polygonOf(rings.map((ring) => [ring]));
}

/**
 * Returns a polygon with its centre: the centroid of its area or, for an outline without area, the mean of its vertices.
 *
 * @param parts the rings of each part, an outline and its holes, as in a GeoJSON MultiPolygon
 */
function polygonOf(parts: readonly (readonly Ring[])[]): Shape {
  const rings = parts.flat();
  const outlines = new Set(parts.map(([outline]) => outline));
  const [firstRing] = rings;
  if (firstRing === undefined) throw new ImportRejectedError('bad_geometry', 'A polygon has no ring');
  // Shoelace formula: ringArea becomes twice the signed area, ringX and ringY six times the area times the centroid. All sums are
  // relative to the first vertex of the polygon, because large coordinates would lose digits.
  const [x0, y0] = [firstRing[0] as number, firstRing[1] as number];
  let [doubleArea, momentX, momentY] = [0, 0, 0];
  let [sumX, sumY, vertexCount] = [0, 0, 0];
  let [minX, minY, maxX, maxY] = [0, 0, 0, 0]; // bounds of all vertices
  for (const ring of rings) {
    let [ringArea, ringX, ringY] = [0, 0, 0];
    let ax = (ring.at(-2) as number) - x0;
    let ay = (ring.at(-1) as number) - y0;
    for (let i = 0; i < ring.length; i += 2) {
      const bx = (ring[i] as number) - x0;
      const by = (ring[i + 1] as number) - y0;
      const cross = ax * by - bx * ay;
      ringArea += cross;
      ringX += (ax + bx) * cross;
      ringY += (ay + by) * cross;
      sumX += bx;
      sumY += by;
      if (bx < minX) minX = bx;
      else if (bx > maxX) maxX = bx;
      if (by < minY) minY = by;
      else if (by > maxY) maxY = by;
      ax = bx;
      ay = by;
    }
    vertexCount += ring.length / 2;
    // The sign makes areas of outlines positive and areas of holes negative, for clockwise and counterclockwise rings.
    const sign = outlines.has(ring) === ringArea > 0 ? 1 : -1;
    doubleArea += sign * ringArea;
    momentX += sign * ringX;
    momentY += sign * ringY;
  }
  const [x, y] = [momentX / (3 * doubleArea), momentY / (3 * doubleArea)];
  // Rounding may leave a tiny area instead of 0, and parts of the area of an outline that crosses itself may cancel out. In both cases,
  // the centroid may lie far away, so the mean of the vertices is used.
  const hasArea = Math.abs(doubleArea) > minDoubleArea;
  if (hasArea && x >= minX && x <= maxX && y >= minY && y <= maxY) return { rings, x: x0 + x, y: y0 + y };
  return { rings, x: x0 + sumX / vertexCount, y: y0 + sumY / vertexCount };
}

/** Returns whether a position is inside a ring (x, y, x, y, …), by counting the edges that a ray from it crosses. */
export function contains(ring: ArrayLike<number>, x: number, y: number): boolean {
  let isInside = false;
  const { length } = ring;
  let ax = ring[length - 2] as number;
  let ay = ring[length - 1] as number;
  for (let i = 0; i < length; i += 2) {
    const bx = ring[i] as number;
    const by = ring[i + 1] as number;
    if (by > y !== ay > y && x < ((ax - bx) * (y - by)) / (ay - by) + bx) isInside = !isInside;
    ax = bx;
    ay = by;
  }
  return isInside;
}

/** Reads `measurements`, a list of `{ name, value }` or an object. Without it, all numeric properties are measurements. */
function measurementsOf(properties: Json): (readonly [name: string, value: number])[] {
  const { measurements } = properties as { measurements?: unknown };
  if (Array.isArray(measurements)) {
    return measurements.flatMap((entry) => {
      const { name, value } = (asObject(entry) ?? {}) as { name?: unknown; value?: unknown };
      return asMeasurement(name, value);
    });
  }
  const record = asObject(measurements);
  if (record !== null) return Object.entries(record).flatMap(([name, value]) => asMeasurement(name, value));
  return Object.entries(properties).flatMap(([name, value]) =>
    typeof value === 'number' && !nonMeasurementKeys.has(name) ? asMeasurement(name, value) : [],
  );
}

const nonMeasurementKeys: ReadonlySet<string> = new Set([...classKeys, 'color', 'colorRGB']);

/** Returns a list with one measurement; an empty list without a name, or if the value is not a finite number. */
function asMeasurement(name: unknown, value: unknown): (readonly [string, number])[] {
  const key = textOf(name);
  return key !== null && typeof value === 'number' && Number.isFinite(value) ? [[key, value]] : [];
}

/** Reads an entry of HoVerNet or CellViT with the fields `contour`, `type` and `type_prob`. */
function contourOf(json: Json, key: string | null, typeNames: ReadonlyMap<string, string>): ResultObject {
  const ring = ringOf(json.contour);
  const type = textOf(json.type); // usually a number, for which the file may state a class name
  const defaultName = type !== null && /^\d+$/.test(type) ? `Type ${type}` : type;
  return {
    ...polygonOf([[ring]]),
    className: type === null ? null : (typeNames.get(type) ?? defaultName),
    classColor: null,
    id: key?.slice(0, maxTextLength) ?? null,
    measurements: asMeasurement('type_prob', json.type_prob),
  };
}
