/**
 * Reads GeoJSON of QuPath 0.2 to 0.8 and of other programs: a feature collection, a feature, a geometry, or an array of them.
 *
 * Source: QuPath, `QuPathTypeAdapters`, `ROITypeAdapters` and `PathClassTypeAdapter`. docs/annotations.md lists the fields of each
 * version.
 */
import type { Color, ObjectType } from '../model/feature.ts';
import { geometryTypes } from '../model/geometry.ts';
import { annotationLimits } from '../model/limits.ts';
import { decodeMeasurement } from '../model/measurement-json.ts';
import { chooseClassColor, unpackColor } from './class-color.ts';
import { cleanLine, cleanText } from './clean-text.ts';
import type { Collector } from './collector.ts';
import { ImportError } from './import-types.ts';
import { readCssColor } from './read-dsa.ts';

type Json = Readonly<Record<string, unknown>>;

/** Object types by the names that versions of QuPath use; version 0.2 wrote the name of the Java class into `id`. */
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

/** Properties that the reader understands. `readMetadata` keeps others, and some values of `type` and `stroke`, as metadata. */
const knownProperties: ReadonlySet<string> = new Set([
  'objectType',
  'object_type',
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

/** Adds the features of a file to the collector: each parent before its children. @throws ImportError */
export function readQuPath(value: unknown, collector: Collector): void {
  const items = topLevelItems(value);
  if (items.length > annotationLimits.layerAnnotations) {
    throw new ImportError('too_many_features', { limit: annotationLimits.layerAnnotations });
  }
  // A stack, because recursion could overflow on deeply nested features. Reversed, so that features are read in the order of the file.
  const pending: { readonly value: unknown; readonly parentId: string | null }[] = items
    .map((item) => ({ value: item, parentId: null }))
    .reverse();
  for (let next = pending.pop(); next; next = pending.pop()) {
    const { children, id } = readFeature(next.value, next.parentId, collector);
    // The children of a rejected feature get the parent of that feature.
    for (const child of children.toReversed()) pending.push({ value: child, parentId: id ?? next.parentId });
  }
}

/** Returns the features and geometries at the top level of a file. */
function topLevelItems(value: unknown): readonly unknown[] {
  if (Array.isArray(value))
    return value.flatMap((item: unknown) => (isCollection(item) ? item.features : [item]));
  if (isCollection(value)) return value.features;
  if (isObject(value) && (value.type === 'Feature' || isGeometry(value))) return [value];
  throw new ImportError('unknown_format');
}

/** Adds one feature. Returns its id, which is null when the feature was rejected, and its children, which are not read yet. */
function readFeature(
  value: unknown,
  parentId: string | null,
  collector: Collector,
): { readonly id: string | null; readonly children: readonly unknown[] } {
  if (isGeometry(value)) {
    collector.beginFeature();
    return { id: collector.add({ id: undefined, geometry: value, properties: {} }), children: [] };
  }
  const feature = isObject(value) ? value : {};
  const properties = isObject(feature.properties) ? feature.properties : {};
  const children = [properties.childObjects, properties.children].find(Array.isArray) ?? [];
  const type = readType(feature, properties);
  if (type === 'root') return { id: parentId, children }; // not an annotation: its children get the parent of the root
  collector.beginFeature();
  if (!isObject(value)) {
    collector.reject('not_an_object');
    return { id: null, children: [] };
  }
  const hasTypeInsteadOfId = isTypeName(feature.id); // version 0.2 of QuPath
  const id = collector.add({
    id: hasTypeInsteadOfId || feature.id === null ? undefined : feature.id,
    geometry: removeInvalidEllipseFlag(feature.geometry),
    nucleusGeometry: removeInvalidEllipseFlag(feature.nucleusGeometry),
    properties: readProperties(properties, type, parentId, collector),
  });
  return { id, children };
}

/** Returns the object type of a feature: 'annotation' when the file states none; an unknown name is returned unchanged. */
function readType(feature: Json, properties: Json): string {
  const legacyName = isTypeName(feature.id) ? feature.id : 'unknown'; // version 0.2 of QuPath
  const type = isTypeName(properties.type) ? properties.type : undefined; // other programs use `type` for other things
  const name = [properties.objectType, properties.object_type, type].find((each) => each !== undefined);
  if (name === undefined) return typesByName.get(legacyName) ?? legacyName;
  const typeName = typeof name === 'string' ? name : 'unknown';
  return typesByName.get(typeName) ?? typeName;
}

function isTypeName(value: unknown): value is string {
  return typeof value === 'string' && typesByName.has(value);
}

function readProperties(
  properties: Json,
  type: string,
  parentId: string | null,
  collector: Collector,
): Record<string, unknown> {
  const objectType = typesByName.get(type); // each type is also a key of the map; undefined for an unknown name
  if (!objectType) collector.warn('unknown_object_type');
  const stroke = readStroke(properties);
  const classification = readClassification(properties.classification, stroke, collector);
  const metadata = readMetadata(properties, stroke, collector);
  const { [descriptionKey]: metadataDescription, ...otherMetadata } = metadata;
  const description =
    typeof properties.description === 'string' ? properties.description : metadataDescription;
  return {
    objectType: objectType ?? 'annotation',
    ...(isScalar(properties.name) && { name: cleanLine(String(properties.name), collector) }),
    ...readColor(classification === null ? (properties.color ?? stroke) : properties.color, collector),
    ...(description !== undefined && { description: cleanText(description, collector) }),
    ...(classification && { classification }),
    measurements: readMeasurements(properties.measurements, collector),
    metadata: otherMetadata,
    ...(parentId === null ? { parentId: properties.parentId } : { parentId }), // a nested feature ignores its own member `parentId`
    ...(properties.isLocked === true && { isLocked: true }),
    ...(properties.isMissing === true && { isMissing: true }),
  };
}

/** Reads the colour of an annotation: a packed integer or three values. Ignores four (with opacity), as QuPath does. */
function readColor(value: unknown, collector: Collector): { color?: Color } {
  if (value === undefined || value === null) return {};
  if (typeof value === 'number' && Number.isInteger(value)) return { color: unpackColor(value) };
  if (Array.isArray(value) && value.length === 3) return { color: value as unknown as Color };
  collector.warn('color_ignored');
  return {};
}

/**
 * Returns the colour in the property `stroke`, in which plain GeoJSON states the colour of the class or, without a class, of the
 * annotation. Returns null when `stroke` is no colour, or when the feature also has a colour in the form of QuPath.
 */
function readStroke({ stroke, color, classification }: Json): Color | null {
  const hasClassColor = isObject(classification) && readClassColor(classification) !== null;
  return hasClassColor || (color !== undefined && color !== null) ? null : readCssColor(stroke);
}

/** Returns the class of an annotation; null when it has none. @param stroke the colour for a class that has no colour of its own */
function readClassification(value: unknown, stroke: Color | null, collector: Collector): object | null {
  const names = readClassNames(value).map((name) => cleanLine(name, collector));
  if (names.length === 0) return null;
  const color = (isObject(value) ? readClassColor(value) : null) ?? stroke;
  if (!color) collector.warn('class_color_chosen');
  return { names, color: color ?? chooseClassColor(names) };
}

/** Returns the colour of a class as an array; null when the file has none. Before version 0.4 it was a packed integer. */
function readClassColor({ color, colorRGB }: Json): unknown {
  if (Array.isArray(color)) return color;
  if (typeof colorRGB === 'number') return unpackColor(colorRGB);
  return typeof color === 'number' ? unpackColor(color) : null;
}

/** Returns the names of a class, those of its parent classes first; an empty list when there is no class. */
function readClassNames(value: unknown): readonly string[] {
  if (typeof value === 'string') {
    return value
      .split(':')
      .map((name) => name.trim())
      .filter((name) => name !== '');
  }
  if (!isObject(value)) return [];
  if (Array.isArray(value.names)) return value.names.filter((name) => typeof name === 'string');
  const ownName = typeof value.name === 'string' && value.name !== '' ? [value.name] : [];
  return [...(isObject(value.parentClass) ? readClassNames(value.parentClass) : []), ...ownName];
}

/** Reads an object of measurements by name, or a list of `{name, value}`, which QuPath wrote before version 0.4. */
function readMeasurements(value: unknown, collector: Collector): Record<string, number> {
  const measurements: [string, number][] = [];
  for (const [name, entry] of measurementEntries(value)) {
    const number = decodeMeasurement(entry);
    if (typeof name === 'string' && number !== null) measurements.push([cleanLine(name, collector), number]);
    else collector.warn('measurement_ignored');
  }
  return Object.fromEntries(measurements);
}

/** Returns the names and values of the measurements, not validated. */
function measurementEntries(value: unknown): readonly (readonly [unknown, unknown])[] {
  if (Array.isArray(value)) {
    return value.map((entry: unknown) => (isObject(entry) ? [entry.name, entry.value] : [null, null]));
  }
  return isObject(value) ? Object.entries(value) : [];
}

/**
 * Returns the metadata of the file and, as further metadata, the properties that the reader does not understand.
 *
 * @param stroke the colour in the property `stroke`; null when there is none, or when it is not used
 */
function readMetadata(properties: Json, stroke: Color | null, collector: Collector): Record<string, string> {
  const entries: [string, string][] = [];
  const add = (name: string, value: unknown) => {
    if (isScalar(value)) entries.push([cleanLine(name, collector), cleanText(String(value), collector)]);
  };
  if (isObject(properties.metadata)) {
    for (const [name, value] of Object.entries(properties.metadata)) add(name, value);
  }
  for (const [name, value] of Object.entries(properties)) {
    if (knownProperties.has(name) || !isScalar(value)) continue;
    if ((name === 'type' && isTypeName(value)) || (name === 'stroke' && stroke !== null)) continue;
    add(name, value);
    collector.warn('properties_kept_as_metadata');
  }
  return Object.fromEntries(entries);
}

/** Removes `isEllipse` unless it is true and the geometry is a polygon; the validation would reject the feature otherwise. */
function removeInvalidEllipseFlag(geometry: unknown): unknown {
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
