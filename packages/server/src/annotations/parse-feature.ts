/** Checks a feature that a client sends and brings it into the form in which it is stored. */
import {
  type AnnotationFeature,
  countFeatureVertices,
  encodeFeature,
  parseFeature as parseStrictly,
  pathsOf,
} from '@lamina/annotations';
import { AppError } from '@lamina/contract';
import type { Box } from '../store/annotations.ts';

/** A feature as it is stored. */
export interface StorableFeature {
  readonly id: string;
  /** JSON; `properties` is the last member and has at least `objectType`. */
  readonly json: string;
  readonly objectType: string;
  readonly className: string | null;
  /** JSON array. */
  readonly classColor: string | null;
  readonly box: Box;
  readonly vertices: number;
}

/** Size of a slide in pixels; null before it is read. */
export interface SlideSize {
  readonly width: number | null;
  readonly height: number | null;
}

/** @throws AppError invalid_request with the path of the value that is not valid */
export function parseFeature(value: unknown, { width, height }: SlideSize): StorableFeature {
  const extent = width === null || height === null ? null : { width, height };
  const parsed = parseStrictly(inOneSpelling(value), { extent });
  if (!parsed.ok) {
    const { code, path } = parsed.error;
    throw new AppError('invalid_request', {
      field: `feature.${path}`,
      cause: new Error(`${code} at ${path}`),
    });
  }
  return storable(parsed.feature);
}

export function storable(feature: AnnotationFeature): StorableFeature {
  const { properties, ...rest } = encodeFeature(feature);
  const { classification, objectType } = feature.properties;
  return {
    id: feature.id,
    json: JSON.stringify({ ...rest, properties: { ...properties, objectType } }),
    objectType,
    className: classification === undefined ? null : classification.names.join(': '),
    classColor: classification === undefined ? null : JSON.stringify(classification.color.slice(0, 3)),
    box: boxOf(feature),
    vertices: countFeatureVertices(feature),
  };
}

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

/** Colour of a class that comes without one; QuPath cannot read a class without a colour. */
const grey = [128, 128, 128];

/** Accepts the spellings of older versions of QuPath and of scripts, which the strict parser does not know. */
function inOneSpelling(value: unknown): unknown {
  if (!isObject(value)) return value;
  const { nucleus_geometry: nucleus, nucleusGeometry = nucleus, ...rest } = value;
  const given = isObject(value.properties) ? value.properties : {};
  const properties = {
    ...given,
    objectType: given.objectType ?? given.object_type,
    parentId: given.parentId ?? given.parent_id,
    isLocked: given.isLocked ?? given.is_locked,
    classification: withColor(given.classification),
  };
  return { ...rest, nucleusGeometry, properties };
}

function withColor(classification: unknown): unknown {
  if (typeof classification === 'string') return { name: classification, color: grey };
  if (!isObject(classification)) return classification;
  return { ...classification, color: classification.color ?? grey };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
