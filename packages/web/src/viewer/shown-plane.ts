/** Says which focal plane and time point the viewer shows of a file with several focal planes or time points. */
import type { Image } from '@lamina/contract';
import { texts } from './texts.ts';

/**
 * The focal plane that the viewer shows of a file with several focal planes or time points: number `plane` (from 1) of `planes`.
 * The viewer always shows the first of the `times` time points.
 */
export type ShownPlane = NonNullable<Image['shown_plane']>;

/** Returns a text such as `plane 1 of 5, time point 1 of 3`; it omits the plane or the time when the file has only one. */
export function shownPlaneText({ plane, planes, times }: ShownPlane): string {
  return [
    ...(planes > 1 ? [texts.planeOf(plane, planes)] : []),
    ...(times > 1 ? [texts.timeOf(1, times)] : []),
  ].join(', ');
}
