/** Validates a GeoJSON feature that a client sends, and converts it to the form in which it is stored. */
import {
  type AnnotationFeature,
  countFeatureVertices,
  encodeFeature,
  parseFeature as parseStrictly,
  pathsOf,
} from '@lamina/annotations';
import { AppError } from '@lamina/contract';
import type { Box } from '../store/annotations.ts';

/** A feature in the form of its database row. */
export interface StorableFeature {
  readonly id: string;
  /** JSON; `properties` is the last member and has at least `objectType`. */
  readonly json: string;
  readonly objectType: string;
  readonly className: string | null; // null if there is no class
  /** JSON array [red, green, blue], each 0 to 255; null if there is no class. */
  readonly classColor: string | null;
  readonly box: Box;
  readonly vertices: number;
}

/** Size of a slide in pixels of full resolution; null until the slide file has been read. Without a size, positions are not checked. */
export interface SlideSize {
  readonly width: number | null;
  readonly height: number | null;
}

/** Returns the feature in storable form. @throws AppError invalid_request with the path of the first invalid value */
export function parseFeature(value: unknown, { width, height }: SlideSize): StorableFeature {
  const extent = width === null || height === null ? null : { width, height };
  const parsed = parseStrictly(withCurrentNames(value), { extent });
  if (!parsed.ok) {
    const { code, path } = parsed.error;
    throw new AppError('invalid_request', {
      field: `feature.${path}`,
      cause: new Error(`${code} at ${path}`),
    });
  }
  return toStorable(parsed.feature);
}

export function toStorable(feature: AnnotationFeature): StorableFeature {
  const { properties, ...otherMembers } = encodeFeature(feature);
  const { classification, objectType } = feature.properties;
  return {
    id: feature.id,
    // `featureText` (feature-json.ts) relies on `properties` being the last member and not empty.
    json: JSON.stringify({ ...otherMembers, properties: { ...properties, objectType } }),
    objectType,
    className: classification === undefined ? null : classification.names.join(': '),
    classColor: classification === undefined ? null : JSON.stringify(classification.color.slice(0, 3)),
    box: boxOf(feature),
    vertices: countFeatureVertices(feature),
  };
}

/** Returns the bounding box in pixels of full resolution. */
function boxOf({ geometry }: AnnotationFeature): Box {
  let [minX, minY, maxX, maxY] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const path of pathsOf(geometry)) {
    for (const [x, y] of path) {
      if (x < minX) minX = x;
      if (y < minY) minY = y;
      if (x > maxX) maxX = x;
      if (y > maxY) maxY = y;
    }
  }
  return { minX, minY, maxX, maxY };
}

/** Colour of a class for which the client sends no colour. QuPath cannot read a class without a colour. */
const grey = [128, 128, 128];

/** Renames properties to their current names. Older versions of QuPath and some scripts write `object_type` and similar names. */
function withCurrentNames(value: unknown): unknown {
  if (!isObject(value)) return value;
  const {
    nucleus_geometry: oldNucleusGeometry,
    nucleusGeometry = oldNucleusGeometry,
    ...otherMembers
  } = value;
  const original = isObject(value.properties) ? value.properties : {};
  const properties = {
    ...original,
    objectType: original.objectType ?? original.object_type,
    parentId: original.parentId ?? original.parent_id,
    isLocked: original.isLocked ?? original.is_locked,
    classification: withColor(original.classification),
  };
  return { ...otherMembers, nucleusGeometry, properties };
}

function withColor(classification: unknown): unknown {
  if (typeof classification === 'string') return { name: classification, color: grey };
  if (!isObject(classification)) return classification;
  return { ...classification, color: classification.color ?? grey };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
