/**
 * A reader of GeoJSON for tests that is as strict as QuPath's; docs/annotations.md states the rules. It throws where QuPath would
 * reject the file, and returns the parts of objects that QuPath would keep. Tests compare what it reads from a file and from the
 * exported copy of the file.
 */
type Json = Record<string, unknown>;

export interface QuPathObject {
  readonly type: string;
  /** Null when the file has no UUID. */
  readonly id: string | null;
  readonly name: string | null;
  readonly color: readonly number[] | null;
  /** Null without a class; `color` is null when QuPath would choose the colour. */
  readonly pathClass: { readonly names: readonly string[]; readonly color: readonly number[] | null } | null;
  readonly geometry: object;
  readonly nucleus: object | null;
  readonly isLocked: boolean;
  readonly isMissing: boolean;
  readonly measurements: Readonly<Record<string, number>>;
  readonly metadata: Readonly<Record<string, string>>;
  readonly children: readonly QuPathObject[];
}

/** Object types by the names that versions of QuPath use. */
const typesByName: Readonly<Record<string, string>> = {
  PathTileObject: 'tile',
  PathCellObject: 'cell',
  TMACoreObject: 'tmaCore',
  tma_core: 'tmaCore',
  PathDetectionObject: 'detection',
  PathRootObject: 'root',
  PathAnnotationObject: 'annotation',
  tile: 'tile',
  cell: 'cell',
  tmaCore: 'tmaCore',
  detection: 'detection',
  root: 'root',
};

/** Returns the objects of a file as QuPath would read them. @throws Error where QuPath would reject the file */
export function readLikeQuPath(text: string): readonly QuPathObject[] {
  const value = JSON.parse(text) as unknown;
  if (Array.isArray(value)) return value.flatMap(readTopLevel);
  return readTopLevel(value);
}

function readTopLevel(value: unknown): readonly QuPathObject[] {
  const object = asObject(value);
  if (Array.isArray(object.features)) return object.features.map((feature) => readObject(asObject(feature)));
  if ('coordinates' in object) return [readObject({ type: 'Feature', geometry: object })];
  return [readObject(object)];
}

function readObject(object: Json): QuPathObject {
  const legacyType = 'id' in object && asText(object.id) in typesByName ? asText(object.id) : null;
  const id =
    'id' in object && /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(asText(object.id))
      ? asText(object.id)
      : null;
  const properties = 'properties' in object ? asObject(object.properties) : {};
  const typeName =
    properties.objectType ?? properties.object_type ?? properties.type ?? legacyType ?? 'unknown';
  const type = typesByName[asText(typeName)] ?? 'annotation';
  const children = properties.childObjects ?? properties.children;
  const geometry = readGeometry(object.geometry);
  return {
    type,
    id: id?.toLowerCase() ?? null,
    name: 'name' in properties ? asText(properties.name) : null,
    color: readColor(properties.color),
    pathClass: readClass(properties.classification),
    geometry: type === 'tmaCore' ? { box: boxOf(geometry) } : geometry, // of a core, only the bounding box is kept
    nucleus: type === 'cell' && object.nucleusGeometry ? readGeometry(object.nucleusGeometry) : null,
    isLocked: properties.isLocked === true,
    isMissing: type === 'tmaCore' && properties.isMissing === true,
    measurements: readMeasurements(properties.measurements),
    metadata: readMetadata(properties.metadata),
    children: Array.isArray(children) ? children.map((child) => readObject(asObject(child))) : [],
  };
}

function readGeometry(value: unknown): object {
  const { type, coordinates, plane, isEllipse } = asObject(value);
  const completePlane = { c: -1, z: 0, t: 0, ...(plane as object | undefined) };
  const positions = readCoordinates(asText(type), coordinates);
  if (isEllipse === true) return { ellipse: boxOf({ coordinates: positions }), plane: completePlane };
  return { type, coordinates: positions, plane: completePlane };
}

function readCoordinates(type: string, value: unknown): unknown {
  const list = value as unknown[];
  if (!Array.isArray(value)) throw new Error('coordinates are missing');
  switch (type) {
    case 'Point':
      return readPosition(value);
    case 'MultiPoint':
      return list.map(readPosition);
    case 'LineString':
      return readLine(value);
    case 'MultiLineString':
      return list.map(readLine);
    case 'Polygon':
      return list.map(readRing);
    case 'MultiPolygon':
      return list.map((rings) => (rings as unknown[]).map(readRing));
    default:
      throw new Error(`No Geometry type found for ${type}`);
  }
}

function readLine(value: unknown): unknown {
  const line = (value as unknown[]).map(readPosition);
  if (line.length === 1) throw new Error('Invalid number of points in LineString');
  return line;
}

function readRing(value: unknown): unknown {
  const ring = (value as unknown[]).map(readPosition);
  if (ring.length > 0 && ring.length < 4) throw new Error('Invalid number of points in LinearRing');
  if (String(ring[0]) !== String(ring.at(-1)))
    throw new Error('Points of LinearRing do not form a closed linestring');
  return ring;
}

function readPosition(value: unknown): readonly number[] {
  const [x, y] = value as unknown[];
  if (typeof x !== 'number' || typeof y !== 'number') throw new Error('not a coordinate');
  return [x, y];
}

/** Returns minimum x, minimum y, maximum x and maximum y of a geometry, in whose JSON x and y alternate. */
function boxOf(geometry: object): readonly number[] {
  const numbers = (
    JSON.stringify((geometry as Json).coordinates ?? (geometry as Json).ellipse).match(
      /-?[\d.]+(?:e-?\d+)?/g,
    ) ?? []
  ).map(Number);
  const xs = numbers.filter((_, index) => index % 2 === 0);
  const ys = numbers.filter((_, index) => index % 2 === 1);
  return [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
}

function readColor(value: unknown): readonly number[] | null {
  if (typeof value === 'number') return unpack(value);
  return Array.isArray(value) && value.length === 3 ? (value as number[]) : null;
}

function readClass(value: unknown): QuPathObject['pathClass'] {
  if (value === undefined || value === null) return null;
  if (typeof value === 'string') return { names: value.split(': '), color: null };
  const classification = asObject(value);
  if (Object.keys(classification).length === 0) return null;
  if ('colorRGB' in classification || 'parentClass' in classification) {
    const parent = readClass(classification.parentClass);
    const color = typeof classification.colorRGB === 'number' ? unpack(classification.colorRGB) : null;
    return { names: [...(parent?.names ?? []), asText(classification.name)], color };
  }
  // QuPath's `PathClassTypeAdapter` throws for a class without a colour.
  if (!('color' in classification)) throw new Error('Unable to parse classification without a color');
  const color = classification.color as number[];
  const alpha = color[3];
  return {
    names: 'names' in classification ? (classification.names as string[]) : [asText(classification.name)],
    color: alpha === undefined || alpha === 255 || alpha === 0 ? color.slice(0, 3) : color,
  };
}

function readMeasurements(value: unknown): Record<string, number> {
  const entries: readonly (readonly [string, unknown])[] = Array.isArray(value)
    ? value.map((entry: unknown) => [asText(asObject(entry).name), asObject(entry).value])
    : Object.entries((value ?? {}) as Json);
  return Object.fromEntries(entries.map(([name, entry]) => [name, toNumber(entry)]));
}

function toNumber(value: unknown): number {
  if (typeof value === 'number') return value;
  const numberByWord: Readonly<Record<string, number>> = {
    NaN: Number.NaN,
    Infinity: Number.POSITIVE_INFINITY,
    '-Infinity': Number.NEGATIVE_INFINITY,
    inf: Number.POSITIVE_INFINITY,
    '-inf': Number.NEGATIVE_INFINITY,
  };
  const number = numberByWord[String(value)];
  if (number === undefined) throw new Error(`not a number: ${String(value)}`);
  return number;
}

function readMetadata(value: unknown): Record<string, string> {
  return Object.fromEntries(
    Object.entries((value ?? {}) as Json).map(([key, entry]) => [key, String(entry)]),
  );
}

function unpack(packed: number): readonly number[] {
  return [(packed >> 16) & 255, (packed >> 8) & 255, packed & 255];
}

function asObject(value: unknown): Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error('Not a JSON Object');
  return value as Json;
}

function asText(value: unknown): string {
  if (typeof value !== 'string') throw new Error('Not a JSON Primitive');
  return value;
}

/**
 * Returns a description of the first difference between two lists of objects, null when there is none. Coordinates may differ by
 * 0.01 pixels; ids and colours that are null in the first list are not compared.
 */
export function differenceOf(before: unknown, after: unknown, path = ''): string | null {
  if (before === null && /\.(?:id|color)$/.test(path)) return null;
  if (typeof before === 'number' && typeof after === 'number') {
    if (Object.is(before, after)) return null;
    const isNear = /(?:coordinates|ellipse|box)/.test(path) && Math.abs(before - after) <= 0.01;
    return isNear ? null : `${path}: ${before} and ${after}`;
  }
  if (typeof before !== 'object' || typeof after !== 'object' || before === null || after === null) {
    return before === after ? null : `${path}: ${JSON.stringify(before)} and ${JSON.stringify(after)}`;
  }
  const first = before as Json;
  const second = after as Json;
  const keys = Object.keys(first);
  if (keys.length !== Object.keys(second).length)
    return `${path}: ${keys.join()} and ${Object.keys(second).join()}`;
  for (const key of keys) {
    if (!Object.hasOwn(second, key)) return `${path}: no ${key}`;
    const difference = differenceOf(first[key], second[key], `${path}.${key}`);
    if (difference) return difference;
  }
  return null;
}
