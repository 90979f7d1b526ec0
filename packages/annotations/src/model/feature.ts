/** One annotation as a GeoJSON feature, as it is stored, sent, drawn and exported. */
import { countVertices, type Geometry } from './geometry.ts';

/** What QuPath calls the object: drawn by a person, found by a program, a cell with its nucleus, a tile, a tissue core. */
export type ObjectType = 'annotation' | 'detection' | 'cell' | 'tile' | 'tmaCore';

export const objectTypes: readonly ObjectType[] = ['annotation', 'detection', 'cell', 'tile', 'tmaCore'];

/** Red, green and blue from 0 to 255. The colour of a class may have an opacity from 1 to 254; opaque colours have none. */
export type Color = readonly [red: number, green: number, blue: number, alpha?: number];

export interface Classification {
  /** At least one; a derived class has several, such as `['Tumor', 'Positive']`. */
  readonly names: readonly string[];
  readonly color: Color;
}

export interface AnnotationProperties {
  readonly objectType: ObjectType;
  readonly name?: string;
  /** The colour of this annotation, instead of the colour of its class. */
  readonly color?: Color;
  /** Plain text of one or several lines. */
  readonly description?: string;
  readonly classification?: Classification;
  /** By name, in the order of the file; values may be NaN, Infinity and -Infinity. */
  readonly measurements?: Readonly<Record<string, number>>;
  readonly metadata?: Readonly<Record<string, string>>;
  /** The id of the annotation that contains this one in the hierarchy. */
  readonly parentId?: string;
  readonly isLocked?: true;
  /** A tissue core that is not on the slide. */
  readonly isMissing?: true;
}

export interface AnnotationFeature {
  readonly type: 'Feature';
  /** A UUID in lowercase, chosen by the client. */
  readonly id: string;
  readonly geometry: Geometry;
  /** The outline of the nucleus of a cell. */
  readonly nucleusGeometry?: Geometry;
  readonly properties: AnnotationProperties;
}

/** Size of a slide at full resolution in pixels. */
export interface Extent {
  readonly width: number;
  readonly height: number;
}

/** Counts the positions of an annotation, its nucleus included. */
export function countFeatureVertices({ geometry, nucleusGeometry }: AnnotationFeature): number {
  return countVertices(geometry) + (nucleusGeometry ? countVertices(nucleusGeometry) : 0);
}
