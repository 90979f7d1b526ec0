/**
 * Reads GeoJSON of QuPath 0.2 to 0.8 and of other programs: a feature collection, a feature, a geometry, or an array of them.
 *
 * Source: QuPath, `QuPathTypeAdapters`, `ROITypeAdapters` and `PathClassTypeAdapter`, read for the format; the fields of each version are
 * in docs/annotations.md.
 */
import type { Color, ObjectType } from '../model/feature.ts';
import { geometryTypes } from '../model/geometry.ts';
import { annotationLimits } from '../model/limits.ts';
import { decodeMeasurement } from '../model/measurement-json.ts';
import { chooseClassColor, unpackColor } from './class-color.ts';
import { cleanLine, cleanText } from './clean-text.ts';
import type { Collector } from './collector.ts';
import { ImportError } from './import-types.ts';

type Json = Readonly<Record<string, unknown>>;

/** QuPath 0.2 wrote the Java class of the object into `id`. */
const typesByName: ReadonlyMap<string, ObjectType | 'root'> = new Map([
  ['annotation', 'annotation'],
  ['PathAnnotationObject', 'annotation'],
  ['unknown', 'annotation'],
  ['detection', 'detection'],
  ['PathDetectionObject', 'detection'],
  ['cell', 'cell'],
  ['PathCellObject', 'cell'],
  ['tile', 'tile'],
  ['PathTileObject', 'tile'],
  ['tmaCore', 'tmaCore'],
  ['tma_core', 'tmaCore'],
  ['TMACoreObject', 'tmaCore'],
  ['root', 'root'],
  ['PathRootObject', 'root'],
]);

/** QuPath keeps the description of an annotation under this name in the metadata. */
export const descriptionKey = 'ANNOTATION_DESCRIPTION';

/** Properties that the reader understands; others are kept as metadata. */
const knownProperties: ReadonlySet<string> = new Set([
  'objectType',
  'object_type',
  'type',
  'name',
  'color',
  'classification',
  'isLocked',
  'isMissing',
  'measurements',
  'metadata',
  'childObjects',
  'children',
  'description',
  'parentId',
]);

/** @throws ImportError */
export function readQuPath(value: unknown, collector: Collector): void {
  const items = topLevel(value);
  if (items.length > annotationLimits.layerAnnotations) {
    throw new ImportError('too_many_features', { limit: annotationLimits.layerAnnotations });
  }
  const waiting: { readonly value: unknown; readonly parentId: string | null }[] = items
    .map((item) => ({ value: item, parentId: null }))
    .reverse();
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { children, id } = readFeature(next.value, next.parentId, collector);
    for (const child of children.toReversed()) waiting.push({ value: child, parentId: id ?? next.parentId });
  }
}

function topLevel(value: unknown): readonly unknown[] {
  if (Array.isArray(value))
    return value.flatMap((item: unknown) => (isCollection(item) ? item.features : [item]));
  if (isCollection(value)) return value.features;
  if (isObject(value) && (value.type === 'Feature' || isGeometry(value))) return [value];
  throw new ImportError('unknown_format');
}

function readFeature(
  value: unknown,
  parentId: string | null,
  collector: Collector,
): { readonly id: string | null; readonly children: readonly unknown[] } {
  if (isGeometry(value)) {
    collector.begin();
    return { id: collector.add({ id: undefined, geometry: value, properties: {} }), children: [] };
  }
  const given = isObject(value) ? value : {};
  const properties = isObject(given.properties) ? given.properties : {};
  const children = [properties.childObjects, properties.children].find(Array.isArray) ?? [];
  const type = readType(given, properties);
  if (type === 'root') return { id: parentId, children };
  collector.begin();
  if (!isObject(value)) {
    collector.reject('not_an_object');
    return { id: null, children: [] };
  }
  const isLegacyId = typeof given.id === 'string' && typesByName.has(given.id);
  const id = collector.add({
    id: isLegacyId || given.id === null ? undefined : given.id,
    geometry: withoutPlainEllipse(given.geometry),
    nucleusGeometry: withoutPlainEllipse(given.nucleusGeometry),
    properties: readProperties(properties, type, parentId, collector),
  });
  return { id, children };
}

function readType(given: Json, properties: Json): string {
  const legacy = typeof given.id === 'string' && typesByName.has(given.id) ? given.id : 'unknown';
  const name = [properties.objectType, properties.object_type, properties.type].find(
    (type) => type !== undefined,
  );
  const type = typeof name === 'string' ? name : name === undefined ? legacy : 'unknown';
  return typesByName.get(type) ?? type;
}

function readProperties(
  properties: Json,
  type: string,
  parentId: string | null,
  collector: Collector,
): Record<string, unknown> {
  const known = typesByName.get(type);
  if (!known) collector.warn('unknown_object_type');
  const metadata = readMetadata(properties, collector);
  const { [descriptionKey]: kept, ...others } = metadata;
  const description = typeof properties.description === 'string' ? properties.description : kept;
  return {
    objectType: known ?? 'annotation',
    ...(isScalar(properties.name) && { name: cleanLine(String(properties.name), collector) }),
    ...readColor(properties.color, collector),
    ...(description !== undefined && { description: cleanText(description, collector) }),
    ...readClassification(properties.classification, collector),
    measurements: readMeasurements(properties.measurements, collector),
    metadata: others,
    ...(parentId === null ? { parentId: properties.parentId } : { parentId }),
    ...(properties.isLocked === true && { isLocked: true }),
    ...(properties.isMissing === true && { isMissing: true }),
  };
}

function readColor(value: unknown, collector: Collector): { color?: Color } {
  if (value === undefined || value === null) return {};
  if (typeof value === 'number' && Number.isInteger(value)) return { color: unpackColor(value) };
  if (Array.isArray(value) && value.length === 3) return { color: value as unknown as Color };
  collector.warn('color_ignored');
  return {};
}

function readClassification(value: unknown, collector: Collector): { classification?: object } {
  const names = readClassNames(value).map((name) => cleanLine(name, collector));
  if (names.length === 0) return {};
  const given = isObject(value) ? value : {};
  const color = Array.isArray(given.color)
    ? given.color
    : typeof given.colorRGB === 'number'
      ? unpackColor(given.colorRGB)
      : typeof given.color === 'number'
        ? unpackColor(given.color)
        : null;
  if (!color) collector.warn('class_color_chosen');
  return { classification: { names, color: color ?? chooseClassColor(names) } };
}

/** A derived class has the names of its parents before its own. */
function readClassNames(value: unknown): readonly string[] {
  if (typeof value === 'string') {
    return value
      .split(':')
      .map((name) => name.trim())
      .filter((name) => name !== '');
  }
  if (!isObject(value)) return [];
  if (Array.isArray(value.names)) return value.names.filter((name) => typeof name === 'string');
  const own = typeof value.name === 'string' && value.name !== '' ? [value.name] : [];
  return [...(isObject(value.parentClass) ? readClassNames(value.parentClass) : []), ...own];
}

/** Before version 0.4 measurements were a list of `{name, value}`. */
function readMeasurements(value: unknown, collector: Collector): Record<string, number> {
  const entries: readonly (readonly [unknown, unknown])[] = Array.isArray(value)
    ? value.map((entry: unknown) => (isObject(entry) ? [entry.name, entry.value] : [null, null]))
    : isObject(value)
      ? Object.entries(value)
      : [];
  const read: [string, number][] = [];
  for (const [name, entry] of entries) {
    const number = decodeMeasurement(entry);
    if (typeof name === 'string' && number !== null) read.push([cleanLine(name, collector), number]);
    else collector.warn('measurement_ignored');
  }
  return Object.fromEntries(read);
}

function readMetadata(properties: Json, collector: Collector): Record<string, string> {
  const entries: [string, string][] = [];
  const add = (name: string, value: unknown) => {
    if (isScalar(value)) entries.push([cleanLine(name, collector), cleanText(String(value), collector)]);
  };
  if (isObject(properties.metadata)) {
    for (const [name, value] of Object.entries(properties.metadata)) add(name, value);
  }
  for (const [name, value] of Object.entries(properties)) {
    if (knownProperties.has(name) || !isScalar(value)) continue;
    add(name, value);
    collector.warn('properties_kept_as_metadata');
  }
  return Object.fromEntries(entries);
}

/** QuPath reads any shape with `isEllipse` as an ellipse; only a polygon can be one here. */
function withoutPlainEllipse(geometry: unknown): unknown {
  if (!isObject(geometry) || geometry.isEllipse === undefined) return geometry;
  const { isEllipse, ...plain } = geometry;
  return isEllipse === true && geometry.type === 'Polygon' ? geometry : plain;
}

function isCollection(value: unknown): value is { readonly features: readonly unknown[] } {
  return isObject(value) && Array.isArray(value.features);
}

function isGeometry(value: unknown): value is Json {
  return (
    isObject(value) && (geometryTypes as readonly unknown[]).includes(value.type) && 'coordinates' in value
  );
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isScalar(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}
