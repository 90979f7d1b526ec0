/** Derives a missing pixel size or magnification of a slide. */
import type { Slide } from './slide.ts';

/** The scale of a slide: values of the file, and the missing one derived from the other. */
export interface Scale extends Pick<Slide, 'mpp' | 'objectivePower'> {
  /** The value that was derived from the other; null when the file states both or neither. */
  readonly derived: 'mpp' | 'objectivePower' | null;
}

/** Micrometres per pixel times magnification: a 40× scan has pixels of about a quarter of a micrometre, a 20× of half. */
const MICROMETRES = 10;
/** Magnifications of microscope and scanner objectives. */
const OBJECTIVES = [1.25, 2, 2.5, 4, 5, 10, 20, 40, 60, 100];
/** Largest factor between a calculated magnification and an objective; scanners stay well within it. */
const TOLERANCE = 1.25;

/**
 * Derives the missing one of pixel size and magnification. No magnification is derived when no objective is near.
 *
 * Measured: 0.2282 µm at 40× (`test3-DAPI-2-(387).ndpi`), 0.4990 and 0.5026 at 20× (`CMU-1-Small-Region.svs`,
 * `1065626.svs`).
 */
export function scaleOf({ mpp, objectivePower }: Pick<Slide, 'mpp' | 'objectivePower'>): Scale {
  if (mpp === null && objectivePower !== null) {
    const side = MICROMETRES / objectivePower;
    return { mpp: { x: side, y: side }, objectivePower, derived: 'mpp' };
  }
  const power = mpp !== null && objectivePower === null ? nearestObjective(mpp) : null;
  if (power !== null) return { mpp, objectivePower: power, derived: 'objectivePower' };
  return { mpp, objectivePower, derived: null };
}

function nearestObjective({ x, y }: NonNullable<Slide['mpp']>): number | null {
  const power = MICROMETRES / Math.sqrt(x * y);
  const distance = (objective: number) => Math.abs(Math.log(objective / power));
  const nearest = OBJECTIVES.toSorted((one, other) => distance(one) - distance(other))[0] ?? 0;
  return distance(nearest) <= Math.log(TOLERANCE) ? nearest : null;
}
