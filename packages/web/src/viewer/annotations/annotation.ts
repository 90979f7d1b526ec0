/** The annotations of the viewer: GeoJSON features with their layer, revision and bounds. */
import {
  type AnnotationFeature,
  type Bounds,
  boundsOf,
  type Color,
  type Geometry,
  type Position,
  parseFeature,
  type Rings,
} from '@lamina/annotations';

export interface Annotation {
  readonly id: string;
  readonly layerId: string;
  readonly feature: AnnotationFeature;
  /** Number of the last change on the server; null when the server has not acknowledged the annotation yet. */
  readonly revision: number | null;
  /** Display name of the last author; null when the last change was made in this browser. */
  readonly author: string | null;
  /** Time of the last change, in milliseconds since 1970. */
  readonly changedAt: number;
  readonly bounds: Bounds;
}

/**
 * Returns a feature of the server or of this browser; null when it is invalid. The server limits the positions by the size of the
 * slide, so that they are not limited here again.
 */
export function readFeature(value: unknown): AnnotationFeature | null {
  const parsed = parseFeature(value, { extent: null });
  return parsed.ok ? parsed.feature : null;
}

export function annotationOf(fields: Omit<Annotation, 'id' | 'bounds'>): Annotation {
  return { ...fields, id: fields.feature.id, bounds: boundsOf(fields.feature.geometry) };
}

/** The colour of annotations without a class: red, as in QuPath. */
const unclassifiedColor: Color = [255, 0, 0];

export function colorOf({ properties }: AnnotationFeature): Color {
  return properties.color ?? properties.classification?.color ?? unclassifiedColor;
}

/** Returns a CSS colour. */
export function cssColor([red, green, blue]: Color, alpha = 1): string {
  return `rgb(${red} ${green} ${blue} / ${alpha})`;
}

/** Returns the name of the class, such as `Tumor: Positive`; null without a class. */
export function classNameOf({ properties }: AnnotationFeature): string | null {
  return properties.classification?.names.join(': ') ?? null;
}

const roundToHundredths = (value: number) => Math.round(value * 100) / 100;

/** Returns the same object for a position that is rounded already, as most positions of large outlines are: this saves memory. */
function roundPosition(position: Position): Position {
  const [x, y] = [roundToHundredths(position[0]), roundToHundredths(position[1])];
  return x === position[0] && y === position[1] ? position : [x, y];
}

/** Returns the geometry with `move` applied to every position. */
export function mapPositions(geometry: Geometry, move: (position: Position) => Position): Geometry {
  const mapLine = (positions: readonly Position[]) => positions.map(move);
  const mapRings = (rings: Rings) => rings.map(mapLine);
  switch (geometry.type) {
    case 'Point':
      return { ...geometry, coordinates: move(geometry.coordinates) };
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

/** Rounds to the two decimals that QuPath writes. */
export function roundGeometry(geometry: Geometry): Geometry {
  return mapPositions(geometry, roundPosition);
}
