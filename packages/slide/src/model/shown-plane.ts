import type { ShownPlane, Slide } from './slide.ts';

/** Returns the field of a slide that says which plane is shown; empty when there is no choice. */
export function shownPlaneOf({ plane, planes, times }: ShownPlane): Pick<Slide, 'shownPlane'> {
  return planes > 1 || times > 1 ? { shownPlane: { plane, planes, times } } : {};
}
