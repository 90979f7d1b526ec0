import type { Image } from '@lamina/contract';
import { texts } from './texts.ts';

/** Which of the focal planes and time points of a file is shown. */
export type ShownPlane = NonNullable<Image['shown_plane']>;

/** Returns such as `plane 1 of 5, time 1 of 3`; a dimension of one position is left out. */
export function shownPlaneText({ plane, planes, times }: ShownPlane): string {
  return [
    ...(planes > 1 ? [texts.planeOf(plane, planes)] : []),
    ...(times > 1 ? [texts.timeOf(1, times)] : []),
  ].join(', ');
}
