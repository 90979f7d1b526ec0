/** Drafts (unfinished shapes) of the drawing tools, the geometries of finished drafts, and edits of features. */
import {
  type AnnotationFeature,
  type AreaGeometry,
  type Classification,
  createEllipse,
  createUuid,
  type Geometry,
  isArea,
  isSelfIntersecting,
  orientRing,
  type Position,
  repairArea,
} from '@lamina/annotations';
import { type Annotation, mapPositions, roundGeometry } from './annotation.ts';
import type { UserChange } from './annotation-store.ts';
import type { Vertex } from './vertices.ts';

/** `move` also selects; `wand` outlines the region of similar colour around a click; `cut` divides areas along a line. */
export const tools = [
  'move',
  'rectangle',
  'ellipse',
  'line',
  'polygon',
  'polyline',
  'points',
  'brush',
  'wand',
  'cut',
] as const;
export type Tool = (typeof tools)[number];

/** An unfinished shape, or an unfinished edit of existing annotations. Positions are in image pixels. */
export type Draft =
  /** A rectangle or an ellipse between two opposite corners. */
  | { readonly kind: 'box'; readonly isEllipse: boolean; readonly start: Position; readonly end: Position }
  /** A line, a polygon or a cut: the points placed so far, and the pointer as the next point (null until it moves). */
  | { readonly kind: 'path'; readonly placed: readonly Position[]; readonly pointer: Position | null }
  /** A stroke with the brush. */
  | {
      readonly kind: 'stroke';
      readonly path: readonly Position[];
      /** Radius of the brush in image pixels. */
      readonly radius: number;
      /** Whether the stroke erases. */
      readonly subtracts: boolean;
      /** Id of the annotation that the stroke changes; null when it creates a new one. */
      readonly targetId: string | null;
    }
  /** A drag of the selected annotations, from the press to the current position of the pointer. */
  | { readonly kind: 'move'; readonly start: Position; readonly end: Position }
  /** A drag of one vertex of the annotation `id` to `position`. */
  | { readonly kind: 'vertex'; readonly id: string; readonly vertex: Vertex; readonly position: Position };

/** Returns the feature with another class; null removes the class. */
export function withClass(
  feature: AnnotationFeature,
  classification: Classification | null,
): AnnotationFeature {
  const { classification: _before, ...properties } = feature.properties;
  return { ...feature, properties: { ...properties, ...(classification !== null && { classification }) } };
}

/**
 * Returns unlocked copies with new ids. A copy whose parent is also copied belongs to the copy of the parent. The other copies have no
 * parent, because their layer may not contain it.
 *
 * @param offset distance of the copies to the right and down, in image pixels
 */
export function copiesOf(features: readonly AnnotationFeature[], offset = 0): readonly AnnotationFeature[] {
  const originals = features.map((feature) => ({ feature, newId: createUuid() })); // features of two layers may have the same id
  const newIds = new Map(originals.map(({ feature, newId }) => [feature.id, newId]));
  return originals.map(({ feature, newId }) => {
    const { isLocked: _locked, parentId, ...properties } = feature.properties;
    const newParentId = parentId && newIds.get(parentId);
    return {
      ...moveFeature(feature, offset, offset),
      id: newId,
      properties: { ...properties, ...(newParentId && { parentId: newParentId }) },
    };
  });
}

/**
 * Returns the feature (a cell: with its nucleus) at another place; rounds all positions.
 *
 * @param dx distance to the right, in image pixels
 * @param dy distance down
 */
export function moveFeature(feature: AnnotationFeature, dx: number, dy: number): AnnotationFeature {
  const { geometry, nucleusGeometry } = feature;
  const move = (moved: Geometry) => roundGeometry(mapPositions(moved, ([x, y]) => [x + dx, y + dy]));
  return {
    ...feature,
    geometry: move(geometry),
    ...(nucleusGeometry && { nucleusGeometry: move(nucleusGeometry) }),
  };
}

/** Returns the changes that make each piece an annotation of its own; the first piece keeps the id and replaces the annotation. */
export function changesOfPieces(
  { id, layerId, feature }: Annotation,
  pieces: readonly Geometry[],
): readonly UserChange[] {
  return pieces.map((geometry, index) =>
    index === 0
      ? { id, feature: { ...feature, geometry } }
      : { layerId, feature: { ...feature, id: createUuid(), geometry } },
  );
}

/** Rounds positions to 0.01 image pixels, and repairs an area (except an ellipse) with crossing rings unless no area would remain. */
export function normalise(geometry: Geometry): Geometry {
  const rounded = roundGeometry(geometry);
  if (!isArea(rounded) || (rounded.type === 'Polygon' && rounded.isEllipse)) return rounded;
  return isSelfIntersecting(rounded) ? (repairArea(rounded) ?? rounded) : rounded;
}

/** Returns the rectangle or ellipse of a box; null when a side is shorter than one image pixel. */
export function boxGeometry({
  start,
  end,
  isEllipse,
}: Draft & { readonly kind: 'box' }): AreaGeometry | null {
  const [minX, maxX] = [Math.min(start[0], end[0]), Math.max(start[0], end[0])];
  const [minY, maxY] = [Math.min(start[1], end[1]), Math.max(start[1], end[1])];
  if (maxX - minX < 1 || maxY - minY < 1) return null;
  if (isEllipse) return createEllipse({ minX, minY, maxX, maxY });
  const corners: readonly Position[] = [
    [minX, minY],
    [maxX, minY],
    [maxX, maxY],
    [minX, maxY],
    [minX, minY],
  ];
  return { type: 'Polygon', coordinates: [corners] };
}

/** Returns the line through the points or, for the polygon tool, the polygon; null with fewer than 2 points (polygon: 3). */
export function pathGeometry(tool: Tool, points: readonly Position[]): Geometry | null {
  const [first] = points;
  if (tool !== 'polygon') return points.length < 2 ? null : { type: 'LineString', coordinates: points };
  if (first === undefined || points.length < 3) return null;
  const outerRingSign = 1; // the signed area of an outer ring is positive
  return { type: 'Polygon', coordinates: [orientRing([...points, first], outerRingSign)] };
}
