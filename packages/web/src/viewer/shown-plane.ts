import type { Image } from '@lamina/contract';
import { texts } from './texts.ts';

/** The focal plane that is shown of a file with several focal planes or time points. */
export type ShownPlane = NonNullable<Image['shown_plane']>;

/** Returns a text such as `plane 1 of 5, time 1 of 3`, without a dimension that has only one position. */
export function shownPlaneText({ plane, planes, times }: ShownPlane): string {
  return [
    ...(planes > 1 ? [texts.planeOf(plane, planes)] : []),
    ...(times > 1 ? [texts.timeOf(1, times)] : []),
  ].join(', ');
}
