import type { Image } from '@lamina/contract';
import { texts } from './texts.ts';

/**
 * Which focal plane the viewer shows, for a file with several focal planes or time points: `plane` counts from 1 to `planes`. Of
 * `times` time points, the viewer always shows the first.
 */
export type ShownPlane = NonNullable<Image['shown_plane']>;

/** Returns a text such as `plane 1 of 5, time 1 of 3`, without a dimension that has only one position. */
export function shownPlaneText({ plane, planes, times }: ShownPlane): string {
  return [
    ...(planes > 1 ? [texts.planeOf(plane, planes)] : []),
    ...(times > 1 ? [texts.timeOf(1, times)] : []),
  ].join(', ');
}
