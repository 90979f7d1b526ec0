import type { Slide } from './slide.ts';

/** How large things on a slide are: what the file says, and what follows from it. */
export interface Scale extends Pick<Slide, 'mpp' | 'objectivePower'> {
  /** The one of the two that the file does not say, worked out from the other; null when both or none are said. */
  readonly derived: 'mpp' | 'objectivePower' | null;
}

/** Micrometres per pixel times magnification: a 40× scan has pixels of about a quarter of a micrometre, a 20× of half. */
const MICROMETRES = 10;
/** Magnifications that objectives of microscopes and scanners have. */
const OBJECTIVES = [1.25, 2, 2.5, 4, 5, 10, 20, 40, 60, 100];
/** How far from an objective a magnification may be, as a factor; scanners stay well within it. */
const NEAR = 1.25;

/**
 * Fill in what a file does not say of its scale. Magnifications that no objective has come of no pixel size.
 *
 * Seen: 0.2282 µm at 40× (`test3-DAPI-2-(387).ndpi`), 0.4990 and 0.5026 at 20× (`CMU-1-Small-Region.svs`,
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
  return distance(nearest) <= Math.log(NEAR) ? nearest : null;
}
