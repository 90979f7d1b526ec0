/** GeoJSON geometry (RFC 7946) in pixels of full resolution, with two additional members of QuPath, `plane` and `isEllipse`. */

/** x and y in pixels of full resolution, from the upper left corner of the slide; fractions are allowed. */
export type Position = readonly [x: number, y: number];

/** A closed ring: its last position equals its first, so a triangle has four positions. */
export type Ring = readonly Position[];

/** The rings of one polygon: the outer ring, then the holes. */
export type PolygonRings = readonly Ring[];

/** The image plane of an annotation in a slide with several planes; `defaultPlane` where none is stated. */
export interface Plane {
  /** Channel from 0; -1 means all channels. */
  readonly c: number;
  /** Focal plane from 0. */
  readonly z: number;
  /** Time point from 0. */
  readonly t: number;
}

interface OnPlane {
  /** Undefined for the default plane. */
  readonly plane?: Plane;
}

export interface PointGeometry extends OnPlane {
  readonly type: 'Point';
  readonly coordinates: Position;
}

export interface MultiPointGeometry extends OnPlane {
  readonly type: 'MultiPoint';
  readonly coordinates: readonly Position[];
}

export interface LineStringGeometry extends OnPlane {
  readonly type: 'LineString';
  readonly coordinates: readonly Position[];
}

export interface MultiLineStringGeometry extends OnPlane {
  readonly type: 'MultiLineString';
  readonly coordinates: readonly (readonly Position[])[];
}

export interface PolygonGeometry extends OnPlane {
  readonly type: 'Polygon';
  readonly coordinates: PolygonRings;
  /** True when the shape is the ellipse that fills the axis-parallel bounding box of the polygon. */
  readonly isEllipse?: true;
}

export interface MultiPolygonGeometry extends OnPlane {
  readonly type: 'MultiPolygon';
  readonly coordinates: readonly PolygonRings[];
}

export type Geometry =
  | PointGeometry
  | MultiPointGeometry
  | LineStringGeometry
  | MultiLineStringGeometry
  | PolygonGeometry
  | MultiPolygonGeometry;

export type GeometryType = Geometry['type'];

/** Geometries with an area. */
export type AreaGeometry = PolygonGeometry | MultiPolygonGeometry;

export const geometryTypes: readonly GeometryType[] = [
  'Point',
  'MultiPoint',
  'LineString',
  'MultiLineString',
  'Polygon',
  'MultiPolygon',
];

export const defaultPlane: Plane = { c: -1, z: 0, t: 0 };

export function isArea(geometry: Geometry): geometry is AreaGeometry {
  return geometry.type === 'Polygon' || geometry.type === 'MultiPolygon';
}

/** Returns the paths of a geometry, which are lists of positions: its lines, its rings, or one list of all its points. */
export function pathsOf(geometry: Geometry): readonly (readonly Position[])[] {
  switch (geometry.type) {
    case 'Point':
      return [[geometry.coordinates]];
    case 'MultiPoint':
    case 'LineString':
      return [geometry.coordinates];
    case 'MultiLineString':
    case 'Polygon':
      return geometry.coordinates;
    case 'MultiPolygon':
      return geometry.coordinates.flat();
  }
}

/** Returns the parts of an area: one list of rings per polygon. */
export function polygonsOf(geometry: AreaGeometry): readonly PolygonRings[] {
  return geometry.type === 'Polygon' ? [geometry.coordinates] : geometry.coordinates;
}

/** Counts the positions of a geometry, including the closing position of each ring. */
export function countVertices(geometry: Geometry): number {
  let count = 0;
  for (const path of pathsOf(geometry)) count += path.length;
  return count;
}
