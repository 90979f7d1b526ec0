/** Strict validation of the properties of a feature. */
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

/** Controls, lone surrogates and line separators; a database or a terminal may not accept them. */
const unsafeInLine = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u;
const unsafeInText = /[^\P{Cc}\t\n\r]|\p{Cs}/u;

/**
 * Unknown members are ignored, so a client may send back a feature as the server sent it.
 *
 * @throws FeatureError
 */
export function parseProperties(value: unknown, id: string): AnnotationProperties {
  const path = 'properties';
  const given = asObject(value ?? {}, path);
  const name = parseText(given.name, `${path}.name`, annotationLimits.nameLength);
  const description = parseText(
    given.description,
    `${path}.description`,
    annotationLimits.descriptionLength,
    unsafeInText,
  );
  const color = isAbsent(given.color) ? null : parseColor(given.color, `${path}.color`);
  const classification = parseClassification(given.classification, `${path}.classification`);
  const measurements = parseMeasurements(given.measurements, `${path}.measurements`);
  const metadata = parseMetadata(given.metadata, `${path}.metadata`);
  const parentId = parseParentId(given.parentId, `${path}.parentId`, id);
  return {
    objectType: parseObjectType(given.objectType, `${path}.objectType`),
    ...(name !== null && { name }),
    ...(color && { color }),
    ...(description && { description }),
    ...(classification && { classification }),
    ...(measurements && { measurements }),
    ...(metadata && { metadata }),
    ...(parentId && { parentId }),
    ...(parseFlag(given.isLocked, `${path}.isLocked`) && { isLocked: true }),
    ...(parseFlag(given.isMissing, `${path}.isMissing`) && { isMissing: true }),
  };
}

function parseObjectType(value: unknown, path: string): ObjectType {
  if (isAbsent(value)) return 'annotation';
  const known = objectTypes.find((type) => type === value);
  if (!known) throw new FeatureError('unknown_value', path);
  return known;
}

/** Returns null when absent. */
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
  const isPart = (part: unknown): part is number =>
    typeof part === 'number' && Number.isInteger(part) && part >= 0 && part <= 255;
  if (!Array.isArray(value) || value.length < 3 || value.length > 4)
    throw new FeatureError('not_a_color', path);
  const [red, green, blue, alpha = 255] = value as readonly unknown[];
  if (!isPart(red) || !isPart(green) || !isPart(blue) || !isPart(alpha)) {
    throw new FeatureError('not_a_color', path);
  }
  return alpha === 0 || alpha === 255 ? [red, green, blue] : [red, green, blue, alpha];
}

/** Accepts `{name, color}` and `{names, color}`, as QuPath writes them. */
function parseClassification(value: unknown, path: string): Classification | null {
  if (isAbsent(value)) return null;
  const given = asObject(value, path);
  const names: unknown = given.names ?? (isAbsent(given.name) ? undefined : [given.name]);
  if (isAbsent(names)) throw new FeatureError('missing', `${path}.name`);
  if (!Array.isArray(names)) throw new FeatureError('wrong_type', `${path}.names`, { expected: 'array' });
  if (names.length === 0) throw new FeatureError('missing', `${path}.names`);
  const limit = annotationLimits.classNames;
  if (names.length > limit) throw new FeatureError('too_many_entries', `${path}.names`, { limit });
  const parsed = names.map((name: unknown, index) => {
    const at = `${path}.names[${index}]`;
    const text = parseText(name, at, annotationLimits.nameLength);
    if (!text) throw new FeatureError('missing', at);
    return text;
  });
  if (isAbsent(given.color)) throw new FeatureError('missing', `${path}.color`);
  return { names: parsed, color: parseColor(given.color, `${path}.color`) };
}

/** Returns null when there are none. */
function parseMeasurements(value: unknown, path: string): Record<string, number> | null {
  return parseRecord(value, path, annotationLimits.measurements, (entry, at) => {
    const number = decodeMeasurement(entry);
    if (number === null) throw new FeatureError('wrong_type', at, { expected: 'number' });
    return number;
  });
}

function parseMetadata(value: unknown, path: string): Record<string, string> | null {
  return parseRecord(value, path, annotationLimits.metadata, (entry, at) => {
    if (typeof entry !== 'string') throw new FeatureError('wrong_type', at, { expected: 'string' });
    checkText(entry, at, annotationLimits.metadataLength, unsafeInText);
    return entry;
  });
}

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
  // fromEntries defines its members, so `__proto__` is a name like any other.
  return Object.fromEntries(
    entries.map(([name, entry]) => {
      const at = `${path}[${JSON.stringify(name.slice(0, 100))}]`;
      checkText(name, at, annotationLimits.nameLength);
      return [name, parseEntry(entry, at)] as const;
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
