/** The annotations as the viewer holds them (GeoJSON features with layer, revision and bounds), their colours and class names. */
import {
  type AnnotationFeature,
  type Bounds,
  boundsOf,
  type Color,
  type Geometry,
  type PolygonRings,
  type Position,
  parseFeature,
} from '@lamina/annotations';
import { annotationKey } from './pending-change.ts';

export interface Annotation {
  /**
   * Identifies the annotation on this page, as `annotationKey` does. The server identifies it by `layerId` and the id of the feature:
   * annotations of different layers may have the same feature id.
   */
  readonly id: string;
  readonly layerId: string;
  readonly feature: AnnotationFeature;
  /** Number of changes that the server has stored; null before the server has acknowledged the annotation. */
  readonly revision: number | null;
  /** Display name of the account that made the last change; null if the account has no name, and for a change made in this browser. */
  readonly author: string | null;
  /** Time of the last change, in milliseconds since 1970. */
  readonly changedAt: number;
  /** Bounding box in image pixels. */
  readonly bounds: Bounds;
}

/**
 * Parses a GeoJSON feature from the server or from the storage of this browser; returns null when it is invalid. The server
 * checks positions against the size of the slide, so this function does not (`extent: null`).
 */
export function readFeature(json: unknown): AnnotationFeature | null {
  const parsed = parseFeature(json, { extent: null });
  return parsed.ok ? parsed.feature : null;
}

/** Creates an annotation; its id comes from its layer and feature, and its bounds from the geometry. */
export function annotationOf(fields: Omit<Annotation, 'id' | 'bounds'>): Annotation {
  const { layerId, feature } = fields;
  return { ...fields, id: annotationKey({ layerId, id: feature.id }), bounds: boundsOf(feature.geometry) };
}

/** The colour of annotations without a class: red, as in QuPath (a desktop slide viewer). */
const unclassifiedColor: Color = [255, 0, 0];

/** Returns the annotation's own colour; without one, the colour of its class; without a class, red. */
export function colorOf({ properties }: AnnotationFeature): Color {
  return properties.color ?? properties.classification?.color ?? unclassifiedColor;
}

/** Converts a colour to CSS. @param alpha opacity from 0 to 1 */
export function cssColor([red, green, blue]: Color, alpha = 1): string {
  return `rgb(${red} ${green} ${blue} / ${alpha})`;
}

/** Returns the full name of the class, such as `Tumor: Positive` for a subclass; null if there is no class. */
export function classNameOf({ properties }: AnnotationFeature): string | null {
  return properties.classification?.names.join(': ') ?? null;
}

const roundToHundredths = (value: number) => Math.round(value * 100) / 100;

/** Rounds a position. Returns the same object for a position that is rounded already; this saves memory. */
function roundPosition(position: Position): Position {
  const [x, y] = [roundToHundredths(position[0]), roundToHundredths(position[1])];
  return x === position[0] && y === position[1] ? position : [x, y];
}

/** Returns the geometry with `convert` applied to every position. */
export function mapPositions(geometry: Geometry, convert: (position: Position) => Position): Geometry {
  const mapLine = (positions: readonly Position[]) => positions.map(convert);
  const mapRings = (rings: PolygonRings) => rings.map(mapLine);
  switch (geometry.type) {
    case 'Point':
      return { ...geometry, coordinates: convert(geometry.coordinates) };
    case 'MultiPoint':
    case 'LineString':
      return { ...geometry, coordinates: mapLine(geometry.coordinates) };
    case 'MultiLineString':
    case 'Polygon':
      return { ...geometry, coordinates: mapRings(geometry.coordinates) };
    case 'MultiPolygon':
      return { ...geometry, coordinates: geometry.coordinates.map(mapRings) };
  }
}

/** Rounds all positions to two decimals of an image pixel, as QuPath does. */
export function roundGeometry(geometry: Geometry): Geometry {
  return mapPositions(geometry, roundPosition);
}
