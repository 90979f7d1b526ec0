/** Sizes of annotations in words. */
import { areaOf, type Geometry, isArea, lengthOf, pathsOf } from '@lamina/annotations';
import { areaText, lengthText } from '../overlay/shapes.ts';
import type { Calibration } from '../scale.ts';
import { boxGeometry, type Draft, pathGeometry } from './drafts.ts';
import { texts } from './texts.ts';

/** Returns an area, a length or a count; in pixels for a slide without scale. */
export function sizeText(geometry: Geometry, calibration: Calibration | null): string {
  const x = calibration?.mpp ?? 1;
  const y = calibration?.mppY ?? x;
  if (isArea(geometry)) return areaText(areaOf(geometry) * x * y, calibration);
  if (geometry.type === 'Point' || geometry.type === 'MultiPoint') {
    return texts.points(pathsOf(geometry).flat().length);
  }
  return lengthText(lengthOf(geometry, { x, y }), calibration);
}

/** Returns the geometry of an unfinished shape as if it ended at the pointer; null while there is none. */
export function draftGeometry(draft: Draft, isClosed: boolean): Geometry | null {
  if (draft.kind === 'box') return boxGeometry(draft);
  if (draft.kind !== 'path') return null;
  const points = draft.floating === null ? draft.fixed : [...draft.fixed, draft.floating];
  return pathGeometry(isClosed && points.length > 2 ? 'polygon' : 'polyline', points);
}
