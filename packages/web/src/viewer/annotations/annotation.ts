/** An annotation as the viewer holds it. */
import {
  type AnnotationFeature,
  type Bounds,
  boundsOf,
  type Color,
  type Geometry,
  type Position,
  type Rings,
} from '@lamina/annotations';

export interface Annotation {
  readonly id: string;
  readonly layerId: string;
  readonly feature: AnnotationFeature;
  /** Null: the server has not acknowledged it yet. */
  readonly revision: number | null;
  /** Display name of the last author; null: the person at this computer. */
  readonly author: string | null;
  /** Milliseconds since 1970. */
  readonly changedAt: number;
  readonly bounds: Bounds;
}

export function annotationOf(fields: Omit<Annotation, 'id' | 'bounds'>): Annotation {
  return { ...fields, id: fields.feature.id, bounds: boundsOf(fields.feature.geometry) };
}

/** The colour of annotations without a class, as in QuPath. */
const unclassified: Color = [255, 0, 0];

export function colorOf({ properties }: AnnotationFeature): Color {
  return properties.color ?? properties.classification?.color ?? unclassified;
}

/** Returns a CSS colour. */
export function cssColor([red, green, blue]: Color, alpha = 1): string {
  return `rgb(${red} ${green} ${blue} / ${alpha})`;
}

/** Returns the class, such as `Tumor: Positive`; null without one. */
export function classNameOf({ properties }: AnnotationFeature): string | null {
  return properties.classification?.names.join(': ') ?? null;
}

const round = (value: number) => Math.round(value * 100) / 100;

/** Most positions are rounded already, and large outlines have many. */
function roundPosition(position: Position): Position {
  const [x, y] = [round(position[0]), round(position[1])];
  return x === position[0] && y === position[1] ? position : [x, y];
}

/** Moves every position. */
export function mapPositions(geometry: Geometry, move: (position: Position) => Position): Geometry {
  const line = (positions: readonly Position[]) => positions.map(move);
  const rings = (of: Rings) => of.map(line);
  switch (geometry.type) {
    case 'Point':
      return { ...geometry, coordinates: move(geometry.coordinates) };
    case 'MultiPoint':
    case 'LineString':
      return { ...geometry, coordinates: line(geometry.coordinates) };
    case 'MultiLineString':
    case 'Polygon':
      return { ...geometry, coordinates: rings(geometry.coordinates) };
    case 'MultiPolygon':
      return { ...geometry, coordinates: geometry.coordinates.map(rings) };
  }
}

/** Rounds to the two decimals that QuPath writes. */
export function roundGeometry(geometry: Geometry): Geometry {
  return mapPositions(geometry, roundPosition);
}
