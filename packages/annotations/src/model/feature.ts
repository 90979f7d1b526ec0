/** One annotation as a GeoJSON feature: the form in which it is validated, drawn, imported and exported. */
import { countVertices, type Geometry } from './geometry.ts';

/**
 * The kinds of objects in QuPath, in this order: a shape drawn by a person, an object found by a program, a cell with its
 * nucleus, a tile of a grid, and a core of a tissue microarray.
 */
export type ObjectType = 'annotation' | 'detection' | 'cell' | 'tile' | 'tmaCore';

export const objectTypes: readonly ObjectType[] = ['annotation', 'detection', 'cell', 'tile', 'tmaCore'];

/** Red, green and blue from 0 to 255, and an opacity from 1 to 254; opaque colours have three members. */
export type Color = readonly [red: number, green: number, blue: number, alpha?: number];

export interface Classification {
  /** At least one; a derived class such as `Tumor: Positive` has several, `['Tumor', 'Positive']`. */
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
  /** Values by name, in the order of the file; a value may be NaN, Infinity or -Infinity. */
  readonly measurements?: Readonly<Record<string, number>>;
  readonly metadata?: Readonly<Record<string, string>>;
  /** The id of the annotation that contains this one in the hierarchy. */
  readonly parentId?: string;
  /** Prevents editing until the user unlocks the annotation. */
  readonly isLocked?: true;
  /** Marks a core of a tissue microarray that is missing on the slide. */
  readonly isMissing?: true;
}

export interface AnnotationFeature {
  readonly type: 'Feature';
  /** A UUID in lowercase. */
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
