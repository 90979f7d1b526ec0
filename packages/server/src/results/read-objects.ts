/**
 * Objects of the features that programs write: GeoJSON of QuPath (also before 0.4), StarDist and LazySlide, and the
 * contours of HoVerNet and CellViT. A feature with many parts and no measurements is many objects, because CellViT writes all
 * cells of a class as one MultiPolygon or MultiPoint.
 */
import { FlatRings } from './flat-rings.ts';
import { RefusedResult } from './problems.ts';
import type { ScannedObject } from './scan-features.ts';

export type Color = readonly [number, number, number];

export interface ResultObject {
  /** x and y by turns, without a repeated last vertex; none: a point. */
  readonly rings: readonly (readonly number[])[];
  readonly x: number;
  readonly y: number;
  readonly className: string | null;
  readonly classColor: Color | null;
  readonly id: string | null;
  readonly measurements: readonly (readonly [name: string, value: number])[];
}

type Json = Readonly<Record<string, unknown>>;
type Ring = number[];

/** A MultiPolygon with more parts is a collection of objects. */
const maxPartsOfObject = 64;
const maxCoordinate = 1e8;
const maxNesting = 16;
const maxTextLength = 200;

export interface ObjectReader {
  setTypeMap(map: unknown): void;
  /** @throws RefusedResult bad_geometry, damaged, too_complex */
  read(scanned: ScannedObject, emit: (object: ResultObject) => void): void;
}

export function createObjectReader(): ObjectReader {
  let types: ReadonlyMap<string, string> = new Map();
  return {
    setTypeMap(map) {
      types = new Map(Object.entries(recordOf(map) ?? {}).map(([number, name]) => [number, String(name)]));
    },
    read({ value, key }, emit) {
      const json = recordOf(value);
      if (json === null) throw new RefusedResult('damaged', 'A member of the list is no object');
      if (Array.isArray(json.contour)) emit(contourOf(json, key, types));
      else readFeature(json, emit, 0);
    },
  };
}

function recordOf(value: unknown): Json | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : null;
}

function readFeature(json: Json, emit: (object: ResultObject) => void, nesting: number): void {
  if (nesting > maxNesting) throw new RefusedResult('too_complex', 'Objects are nested too deeply');
  const isFeature = json.type === 'Feature';
  const geometry = isFeature ? recordOf(json.geometry) : json;
  const properties = (isFeature ? recordOf(json.properties) : null) ?? {};
  if (geometry !== null) {
    const { className, classColor } = classOf(properties);
    const measurements = measurementsOf(properties);
    const id = typeof json.id === 'string' ? json.id.slice(0, maxTextLength) : numberText(json.id);
    const shapes = shapesOf(geometry, measurements.length > 0);
    for (const shape of shapes) {
      emit({ ...shape, className, classColor, measurements, id: shapes.length === 1 ? id : null });
    }
  }
  const children = properties.childObjects ?? properties.children;
  if (!Array.isArray(children)) return;
  for (const child of children) {
    const feature = recordOf(child);
    if (feature !== null) readFeature(feature, emit, nesting + 1);
  }
}

const numberText = (value: unknown) => (typeof value === 'number' ? String(value) : null);

type Shape = Pick<ResultObject, 'rings' | 'x' | 'y'>;

function shapesOf(geometry: Json, isMeasured: boolean): Shape[] {
  const { type, coordinates } = geometry as { type?: unknown; coordinates?: unknown };
  if (coordinates instanceof FlatRings) return [polygonOf(coordinates.rings.map(closedRing))];
  if (!Array.isArray(coordinates))
    throw new RefusedResult('bad_geometry', `A ${String(type)} has no coordinates`);
  switch (type) {
    case 'Point':
      return [pointOf(coordinates)];
    case 'MultiPoint':
      return coordinates.map(pointOf);
    case 'Polygon':
      return [polygonOf(coordinates.map(ringOf))];
    case 'MultiPolygon': {
      const parts = coordinates.map((part) => listOf(part).map(ringOf));
      if (parts.length > maxPartsOfObject && !isMeasured) return parts.map(polygonOf);
      return [polygonOf(parts.flat())];
    }
    case 'LineString':
      return [lineOf([coordinates])];
    case 'MultiLineString':
      return [lineOf(coordinates)];
    default:
      throw new RefusedResult('bad_geometry', `Geometries of type ${String(type)} are not supported`);
  }
}

function listOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new RefusedResult('bad_geometry', 'Coordinates are missing');
  return value;
}

function coordinate(value: unknown): number {
  if (typeof value !== 'number' || !(Math.abs(value) <= maxCoordinate)) {
    throw new RefusedResult('bad_geometry', 'A coordinate is no number, or too far away');
  }
  return value;
}

function pointOf(position: unknown): Shape {
  const list = listOf(position);
  return { rings: [], x: coordinate(list[0]), y: coordinate(list[1]) };
}

/** @throws RefusedResult bad_geometry */
function ringOf(positions: unknown): Ring {
  const list = listOf(positions);
  const ring: Ring = [];
  for (const position of list) {
    const at = position as readonly unknown[] | null;
    ring.push(coordinate(at?.[0]), coordinate(at?.[1]));
  }
  return withoutRepeat(ring);
}

/** Checks the coordinates of a ring. @throws RefusedResult bad_geometry */
function closedRing(ring: Ring): Ring {
  for (let i = 0; i < ring.length; i++) coordinate(ring[i]);
  return withoutRepeat(ring);
}

/** Drops a last vertex that repeats the first. @throws RefusedResult bad_geometry */
function withoutRepeat(ring: Ring): Ring {
  const last = ring.length - 2;
  if (last > 0 && ring[0] === ring[last] && ring[1] === ring[last + 1]) ring.length = last;
  if (ring.length < 6) throw new RefusedResult('bad_geometry', 'A ring has fewer than three vertices');
  return ring;
}

/** Returns the shape of x and y by turns. @throws RefusedResult bad_geometry */
export function shapeOfCoordinates(
  graphic: 'point' | 'line' | 'polygon',
  coordinates: readonly number[],
): Shape {
  if (graphic === 'point') return pointOf(coordinates);
  if (graphic === 'polygon') return polygonOf([closedRing([...coordinates])]);
  const positions = Array.from({ length: coordinates.length / 2 }, (_, n) =>
    coordinates.slice(2 * n, 2 * n + 2),
  );
  return lineOf([positions]);
}

/** A line becomes an outline without area: forth and back. */
function lineOf(lines: readonly unknown[]): Shape {
  const rings = lines.map((line) => {
    const there = listOf(line).map((position) => listOf(position));
    if (there.length < 2) throw new RefusedResult('bad_geometry', 'A line has fewer than two vertices');
    return [...there, ...there.slice(1, -1).reverse()].flatMap(([x, y]) => [coordinate(x), coordinate(y)]);
  });
  return polygonOf(rings);
}

/** The centre is the centroid of the area; of an outline without area, the mean of its vertices. */
function polygonOf(rings: readonly Ring[]): Shape {
  const [firstRing] = rings;
  if (firstRing === undefined) throw new RefusedResult('bad_geometry', 'A polygon has no ring');
  // Relative to a vertex, so that large coordinates lose no digits.
  const [x0, y0] = [firstRing[0] as number, firstRing[1] as number];
  let [area, x, y, sumX, sumY, count] = [0, 0, 0, 0, 0, 0];
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
      ax = bx;
      ay = by;
    }
    count += ring.length / 2;
    // Holes count against the area whichever way they turn; the first ring of each part is the larger one.
    const isHole = isHoleOf(ring, rings);
    const sign = isHole === ringArea > 0 ? -1 : 1;
    area += sign * ringArea;
    x += sign * ringX;
    y += sign * ringY;
  }
  if (Math.abs(area) > 1e-9) return { rings, x: x0 + x / (3 * area), y: y0 + y / (3 * area) };
  return { rings, x: x0 + sumX / count, y: y0 + sumY / count };
}

/** Whether a vertex of the ring lies inside another ring of the object. */
function isHoleOf(ring: Ring, rings: readonly Ring[]): boolean {
  if (rings.length === 1) return false;
  const [x, y] = [ring[0] as number, ring[1] as number];
  let isInside = false;
  for (const other of rings) if (other !== ring && contains(other, x, y)) isInside = !isInside;
  return isInside;
}

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

const classKeys = ['class', 'class_name', 'cell_type', 'type', 'label'] as const;

function classOf(properties: Json): Pick<ResultObject, 'className' | 'classColor'> {
  const classification = properties.classification;
  const record = recordOf(classification);
  if (record !== null) {
    const names = record.names;
    const name = Array.isArray(names) ? names.join(': ') : record.name;
    return {
      className: textOf(name),
      classColor: colorFrom(record.color ?? record.colorRGB),
    };
  }
  const direct = textOf(classification);
  if (direct !== null) return { className: direct, classColor: colorFrom(properties.color) };
  for (const key of classKeys) {
    const className = textOf(properties[key]);
    if (className !== null) return { className, classColor: colorFrom(properties.color) };
  }
  return { className: null, classColor: null };
}

/** Names repeat in every object of a file. */
const knownTexts = new Map<string, string | null>();
const maxKnownTexts = 1000;
const maxKnownLength = 64;

function textOf(value: unknown): string | null {
  const known = typeof value === 'string' ? knownTexts.get(value) : undefined;
  if (known !== undefined) return known;
  const text = cleanText(value);
  if (typeof value === 'string' && value.length <= maxKnownLength && knownTexts.size < maxKnownTexts) {
    knownTexts.set(value, text);
  }
  return text;
}

function cleanText(value: unknown): string | null {
  const text = typeof value === 'number' ? String(value) : value;
  if (typeof text !== 'string') return null;
  const clean = text
    .replaceAll(/\p{Cc}/gu, ' ')
    .trim()
    .slice(0, maxTextLength);
  return clean === '' ? null : clean;
}

function colorFrom(value: unknown): Color | null {
  if (typeof value === 'number' && Number.isInteger(value)) {
    return [(value >> 16) & 255, (value >> 8) & 255, value & 255];
  }
  if (!Array.isArray(value) || value.length < 3) return null;
  const channels = value.slice(0, 3).map((channel) => Math.round(Number(channel)));
  const isColor = channels.every((channel) => channel >= 0 && channel <= 255);
  return isColor ? (channels as unknown as Color) : null;
}

function measurementsOf(properties: Json): (readonly [string, number])[] {
  const { measurements } = properties as { measurements?: unknown };
  if (Array.isArray(measurements)) {
    return measurements.flatMap((entry) => {
      const { name, value } = (recordOf(entry) ?? {}) as { name?: unknown; value?: unknown };
      return pairOf(name, value);
    });
  }
  const record = recordOf(measurements);
  if (record !== null) return Object.entries(record).flatMap(([name, value]) => pairOf(name, value));
  return Object.entries(properties).flatMap(([name, value]) =>
    typeof value === 'number' && !ignored.has(name) ? pairOf(name, value) : [],
  );
}

const ignored: ReadonlySet<string> = new Set([...classKeys, 'color', 'colorRGB']);

/** Only finite numbers are kept. */
function pairOf(name: unknown, value: unknown): (readonly [string, number])[] {
  const key = textOf(name);
  return key !== null && typeof value === 'number' && Number.isFinite(value) ? [[key, value]] : [];
}

/** An entry of HoVerNet or CellViT: `contour`, `type`, `type_prob`. */
function contourOf(json: Json, key: string | null, types: ReadonlyMap<string, string>): ResultObject {
  const ring = ringOf(json.contour);
  const type = numberText(json.type) ?? textOf(json.type);
  return {
    ...polygonOf([ring]),
    className: type === null ? null : (types.get(type) ?? (/^\d+$/.test(type) ? `Type ${type}` : type)),
    classColor: null,
    id: key,
    measurements: pairOf('type_prob', json.type_prob),
  };
}
