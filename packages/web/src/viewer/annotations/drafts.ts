/** Unfinished shapes, and the geometry that becomes of them. */
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
import { mapPositions, roundGeometry } from './annotation.ts';
import type { Vertex } from './vertices.ts';

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

export type Draft =
  | { readonly kind: 'box'; readonly isEllipse: boolean; readonly from: Position; readonly to: Position }
  | { readonly kind: 'path'; readonly fixed: readonly Position[]; readonly floating: Position | null }
  | {
      readonly kind: 'stroke';
      readonly path: readonly Position[];
      /** Image pixels. */
      readonly radius: number;
      readonly subtracts: boolean;
      readonly targetId: string | null;
    }
  | { readonly kind: 'move'; readonly from: Position; readonly to: Position }
  | { readonly kind: 'vertex'; readonly id: string; readonly vertex: Vertex; readonly to: Position };

export function withClass(
  feature: AnnotationFeature,
  classification: Classification | null,
): AnnotationFeature {
  const { classification: _before, ...properties } = feature.properties;
  return { ...feature, properties: { ...properties, ...(classification !== null && { classification }) } };
}

/** Returns a copy with an id of its own. */
export function copyOf(feature: AnnotationFeature, offset = 0): AnnotationFeature {
  const { isLocked: _locked, ...properties } = feature.properties;
  const geometry = mapPositions(feature.geometry, ([x, y]) => [x + offset, y + offset]);
  return { ...feature, id: createUuid(), geometry: roundGeometry(geometry), properties };
}

/** Rounds, and repairs rings that cross. */
export function tidy(geometry: Geometry): Geometry {
  const rounded = roundGeometry(geometry);
  if (!isArea(rounded) || (rounded.type === 'Polygon' && rounded.isEllipse)) return rounded;
  return isSelfIntersecting(rounded) ? (repairArea(rounded) ?? rounded) : rounded;
}

/** Returns null for a box without an area. */
export function boxGeometry({ from, to, isEllipse }: Draft & { readonly kind: 'box' }): AreaGeometry | null {
  const [minX, maxX] = [Math.min(from[0], to[0]), Math.max(from[0], to[0])];
  const [minY, maxY] = [Math.min(from[1], to[1]), Math.max(from[1], to[1])];
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

/** Returns null when there are too few points for the tool. */
export function pathGeometry(tool: Tool, points: readonly Position[]): Geometry | null {
  const [first] = points;
  if (tool !== 'polygon') return points.length < 2 ? null : { type: 'LineString', coordinates: points };
  if (first === undefined || points.length < 3) return null;
  return { type: 'Polygon', coordinates: [orientRing([...points, first], 1)] };
}
