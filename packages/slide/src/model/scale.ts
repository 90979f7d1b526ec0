/** The pixel size and the magnification of a slide; the missing one is estimated from the other. */
import type { Slide } from './slide.ts';

/** The scale of a slide: the values that the file states, and a missing one derived from the other. */
export interface Scale extends Pick<Slide, 'mpp' | 'objectivePower'> {
  /** The value that was derived from the other; null when the file states both or neither, or no objective fits. */
  readonly derived: 'mpp' | 'objectivePower' | null;
}

/** Typical product of MPP (micrometres per pixel) and magnification: 0.25 µm at 40×, 0.5 µm at 20×. */
const MPP_TIMES_POWER = 10;
/** Magnifications of microscope and scanner objectives. */
const OBJECTIVE_POWERS = [1.25, 2, 2.5, 4, 5, 10, 20, 40, 60, 100];
/** Maximum ratio between a calculated magnification and the common objective power that replaces it. */
const MAX_POWER_RATIO = 1.25;

/**
 * Returns pixel size and magnification, the missing one derived from the other. A magnification is derived only if it is
 * within a factor of 1.25 of a common objective.
 *
 * Real slides state both: 0.2282 µm at 40× (`test3-DAPI-2-(387).ndpi`), 0.4990 and 0.5026 µm at 20×
 * (`CMU-1-Small-Region.svs`, `1065626.svs`).
 */
export function scaleOf({ mpp, objectivePower }: Pick<Slide, 'mpp' | 'objectivePower'>): Scale {
  if (mpp === null && objectivePower !== null) {
    const pixelMicrometres = MPP_TIMES_POWER / objectivePower;
    return { mpp: { x: pixelMicrometres, y: pixelMicrometres }, objectivePower, derived: 'mpp' };
  }
  const nearestPower = mpp !== null && objectivePower === null ? nearestObjectivePower(mpp) : null;
  if (nearestPower !== null) return { mpp, objectivePower: nearestPower, derived: 'objectivePower' };
  return { mpp, objectivePower, derived: null };
}

/** Returns the objective power closest to the calculated one, by ratio; null when the ratio exceeds `MAX_POWER_RATIO`. */
function nearestObjectivePower({ x, y }: NonNullable<Slide['mpp']>): number | null {
  const calculatedPower = MPP_TIMES_POWER / Math.sqrt(x * y);
  const distance = (power: number) => Math.abs(Math.log(power / calculatedPower));
  const nearest = OBJECTIVE_POWERS.toSorted((a, b) => distance(a) - distance(b))[0] ?? 0;
  return distance(nearest) <= Math.log(MAX_POWER_RATIO) ? nearest : null;
}
