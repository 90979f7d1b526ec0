/** Computes the geometry of an unfinished shape, and the sizes of shapes as text. */
import { areaOf, type Geometry, isArea, lengthOf, pathsOf } from '@lamina/annotations';
import { areaText, lengthText } from '../overlay/shapes.ts';
import type { Calibration } from '../scale.ts';
import { boxGeometry, type Draft, pathGeometry } from './drafts.ts';
import { texts } from './texts.ts';

/** Returns the area, the length or the number of points of a geometry as text; in pixels for a slide without a scale. */
export function sizeText(geometry: Geometry, calibration: Calibration | null): string {
  // Width and height of an image pixel in micrometres; 1 for a slide without a scale, whose sizes are in pixels.
  const pixelWidth = calibration?.mpp ?? 1;
  const pixelHeight = calibration?.mppY ?? pixelWidth;
  if (isArea(geometry)) return areaText(areaOf(geometry) * pixelWidth * pixelHeight, calibration);
  if (geometry.type === 'Point' || geometry.type === 'MultiPoint') {
    return texts.points(pathsOf(geometry).flat().length);
  }
  return lengthText(lengthOf(geometry, { x: pixelWidth, y: pixelHeight }), calibration);
}

/**
 * Returns the geometry that a box or a path would have if it were finished now. The pointer gives the last position: `end` of
 * a box, `pointer` of a path. Returns null for other drafts, for a box with a side shorter than one image pixel, and for
 * a path with fewer than two points.
 *
 * @param pathEnd `closed` makes a path of at least three points a polygon instead of a line
 */
export function draftGeometry(draft: Draft, pathEnd: 'open' | 'closed'): Geometry | null {
  if (draft.kind === 'box') return boxGeometry(draft);
  if (draft.kind !== 'path') return null;
  const points = draft.pointer === null ? draft.placed : [...draft.placed, draft.pointer];
  const tool = pathEnd === 'closed' && points.length > 2 ? 'polygon' : 'polyline';
  return pathGeometry(tool, points);
}
