/** Validates the properties of a feature: names, colours, class, measurements, metadata and flags. */
import {
  type AnnotationProperties,
  type Classification,
  type Color,
  type ObjectType,
  objectTypes,
} from './feature.ts';
import { FeatureError } from './feature-error.ts';
import { annotationLimits } from './limits.ts';
import { decodeMeasurement } from './measurement-json.ts';
import { asObject } from './parse-geometry.ts';
import { isUuid } from './uuid.ts';

/** Not allowed in single-line strings: control characters, lone surrogates and line separators. */
const unsafeInLine = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u;
/** Not allowed in multi-line strings: lone surrogates, and control characters except \t, \n and \r. */
const unsafeInText = /[^\P{Cc}\t\n\r]|\p{Cs}/u;

/**
 * Validates and copies the properties. Unknown members are ignored, so that a client may send back a feature from the server with
 * its additional members.
 *
 * @param id the id of the feature in lowercase, which must not be its own parent
 * @throws FeatureError
 */
export function parseProperties(value: unknown, id: string): AnnotationProperties {
  const path = 'properties';
  const members = asObject(value ?? {}, path);
  const name = parseText(members.name, `${path}.name`, annotationLimits.nameLength);
  const description = parseText(
    members.description,
    `${path}.description`,
    annotationLimits.descriptionLength,
    unsafeInText,
  );
  const color = isAbsent(members.color) ? null : parseColor(members.color, `${path}.color`);
  const classification = parseClassification(members.classification, `${path}.classification`);
  const measurements = parseMeasurements(members.measurements, `${path}.measurements`);
  const metadata = parseMetadata(members.metadata, `${path}.metadata`);
  const parentId = parseParentId(members.parentId, `${path}.parentId`, id);
  return {
    objectType: parseObjectType(members.objectType, `${path}.objectType`),
    ...(name !== null && { name }), // keeps an empty name, but not an empty description
    ...(color && { color }),
    ...(description && { description }),
    ...(classification && { classification }),
    ...(measurements && { measurements }),
    ...(metadata && { metadata }),
    ...(parentId && { parentId }),
    ...(parseFlag(members.isLocked, `${path}.isLocked`) && { isLocked: true }),
    ...(parseFlag(members.isMissing, `${path}.isMissing`) && { isMissing: true }),
  };
}

function parseObjectType(value: unknown, path: string): ObjectType {
  if (isAbsent(value)) return 'annotation';
  const objectType = objectTypes.find((type) => type === value);
  if (!objectType) throw new FeatureError('unknown_value', path);
  return objectType;
}

/** Returns null when the value is null or undefined. */
function parseText(value: unknown, path: string, limit: number, unsafe = unsafeInLine): string | null {
  if (isAbsent(value)) return null;
  if (typeof value !== 'string') throw new FeatureError('wrong_type', path, { expected: 'string' });
  checkText(value, path, limit, unsafe);
  return value;
}

function checkText(text: string, path: string, limit: number, unsafe = unsafeInLine): void {
  if (text.length > limit) throw new FeatureError('text_too_long', path, { limit });
  if (unsafe.test(text)) throw new FeatureError('text_characters', path);
}

function parseColor(value: unknown, path: string): Color {
  const isByte = (channel: unknown): channel is number =>
    typeof channel === 'number' && Number.isInteger(channel) && channel >= 0 && channel <= 255;
  if (!Array.isArray(value) || value.length < 3 || value.length > 4)
    throw new FeatureError('not_a_color', path);
  const [red, green, blue, alpha = 255] = value as readonly unknown[];
  if (!isByte(red) || !isByte(green) || !isByte(blue) || !isByte(alpha)) {
    throw new FeatureError('not_a_color', path);
  }
  // An opacity of 0 means opaque, as in QuPath.
  return alpha === 0 || alpha === 255 ? [red, green, blue] : [red, green, blue, alpha];
}

/** Accepts `{name, color}` and `{names, color}`, as QuPath writes them. */
function parseClassification(value: unknown, path: string): Classification | null {
  if (isAbsent(value)) return null;
  const members = asObject(value, path);
  const names: unknown = members.names ?? (isAbsent(members.name) ? undefined : [members.name]);
  if (isAbsent(names)) throw new FeatureError('missing', `${path}.name`);
  if (!Array.isArray(names)) throw new FeatureError('wrong_type', `${path}.names`, { expected: 'array' });
  if (names.length === 0) throw new FeatureError('missing', `${path}.names`);
  const limit = annotationLimits.classNames;
  if (names.length > limit) throw new FeatureError('too_many_entries', `${path}.names`, { limit });
  const parsedNames = names.map((name: unknown, index) => {
    const namePath = `${path}.names[${index}]`;
    const text = parseText(name, namePath, annotationLimits.nameLength);
    if (!text) throw new FeatureError('missing', namePath);
    return text;
  });
  if (isAbsent(members.color)) throw new FeatureError('missing', `${path}.color`);
  return { names: parsedNames, color: parseColor(members.color, `${path}.color`) };
}

/** Returns null when there are no measurements. */
function parseMeasurements(value: unknown, path: string): Record<string, number> | null {
  return parseRecord(value, path, annotationLimits.measurements, (entry, entryPath) => {
    const number = decodeMeasurement(entry);
    if (number === null) throw new FeatureError('wrong_type', entryPath, { expected: 'number' });
    return number;
  });
}

function parseMetadata(value: unknown, path: string): Record<string, string> | null {
  return parseRecord(value, path, annotationLimits.metadata, (entry, entryPath) => {
    if (typeof entry !== 'string') throw new FeatureError('wrong_type', entryPath, { expected: 'string' });
    checkText(entry, entryPath, annotationLimits.metadataLength, unsafeInText);
    return entry;
  });
}

/** Validates an object with at most `limit` entries; returns null when it is absent or empty. */
function parseRecord<Value>(
  value: unknown,
  path: string,
  limit: number,
  parseEntry: (value: unknown, path: string) => Value,
): Record<string, Value> | null {
  if (isAbsent(value)) return null;
  const entries = Object.entries(asObject(value, path));
  if (entries.length > limit) throw new FeatureError('too_many_entries', path, { limit });
  if (entries.length === 0) return null;
  // Object.fromEntries defines own properties, so an entry named `__proto__` does not change the prototype.
  return Object.fromEntries(
    entries.map(([name, entry]) => {
      const entryPath = `${path}[${JSON.stringify(name.slice(0, 100))}]`; // shortened: the name is not validated yet
      checkText(name, entryPath, annotationLimits.nameLength);
      return [name, parseEntry(entry, entryPath)] as const;
    }),
  );
}

function parseParentId(value: unknown, path: string, id: string): string | null {
  if (isAbsent(value)) return null;
  if (typeof value !== 'string' || !isUuid(value)) throw new FeatureError('id_not_uuid', path);
  const parentId = value.toLowerCase();
  if (parentId === id) throw new FeatureError('parent_is_self', path);
  return parentId;
}

function parseFlag(value: unknown, path: string): boolean {
  if (isAbsent(value)) return false;
  if (typeof value !== 'boolean') throw new FeatureError('wrong_type', path, { expected: 'boolean' });
  return value;
}

function isAbsent(value: unknown): value is null | undefined {
  return value === undefined || value === null;
}
