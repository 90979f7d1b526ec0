/** Converts measurements (rulers, areas, counting circles and cell marks) to annotations, which the server saves. */
import { type AnnotationFeature, createEllipse, createUuid, type Geometry } from '@lamina/annotations';
import { countingCircleRadii, type Shape } from '../overlay/shapes.ts';
import type { Calibration } from '../scale.ts';
import { normalise, pathGeometry } from './drafts.ts';

/** Returns an annotation for each ruler, area and circle, and one annotation for all cell marks together. */
export function featuresOfShapes(
  shapes: readonly Shape[],
  calibration: Calibration | null, // null for a slide without a scale
): readonly AnnotationFeature[] {
  const marks = shapes.flatMap((shape) => (shape.kind === 'mark' ? shape.centre : []));
  const markedCells: Geometry = { type: 'MultiPoint', coordinates: marks.map(({ x, y }) => [x, y] as const) };
  const geometries = shapes.flatMap((shape) => geometryOf(shape, calibration) ?? []);
  return [...geometries, ...(marks.length > 0 ? [markedCells] : [])].map((geometry) => ({
    type: 'Feature',
    id: createUuid(),
    geometry: normalise(geometry), // rounds positions and repairs crossing lines
    properties: { objectType: 'annotation' }, // as in the GeoJSON of QuPath, a desktop slide viewer
  }));
}

/** Returns the geometry of a shape; null for a cell mark (all share one annotation) or for a circle without a scale. */
function geometryOf(shape: Shape, calibration: Calibration | null): Geometry | null {
  switch (shape.kind) {
    case 'ruler':
      return pathGeometry(
        'line',
        shape.points.map(({ x, y }) => [x, y] as const),
      );
    case 'area':
      return pathGeometry(
        'polygon',
        shape.points.map(({ x, y }) => [x, y] as const),
      );
    case 'circle': {
      if (calibration === null) return null;
      const { rx, ry } = countingCircleRadii(calibration);
      const { x, y } = shape.centre;
      return createEllipse({ minX: x - rx, minY: y - ry, maxX: x + rx, maxY: y + ry });
    }
    case 'mark':
      return null;
  }
}
