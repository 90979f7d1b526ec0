import type { ShownPlane, Slide } from './slide.ts';

/** Returns the field `shownPlane` of a slide; an empty object for a file of one focal plane and one time point. */
export function shownPlaneOf({ plane, planes, times }: ShownPlane): Pick<Slide, 'shownPlane'> {
  return planes > 1 || times > 1 ? { shownPlane: { plane, planes, times } } : {};
}
