/** The objectives of a microscope as zooms of a scan. */
import type { Calibration } from './scale.ts';

const objectivePowers = [1.25, 2.5, 5, 10, 20, 40];
/** The steps of a slide whose scale is unknown, in screen pixels per image pixel. */
export const uncalibratedZooms = [0.25, 0.5, 1] as const;

/** Tolerance within which two zooms are the same: scanners' figures for one objective differ by this much. */
const tolerance = 0.02;

export interface Objective {
  /** Magnification, such as 20. */
  readonly power: number;
  /** Screen pixels per image pixel. */
  readonly zoom: number;
  /** Whether the zoom exceeds the resolution of the scan. */
  readonly isDigital: boolean;
}

/** Returns the steps from the weakest to the strongest; a scan beyond 40×, such as 60×, adds its own. */
export function objectivesOf({ objectivePower }: Calibration): readonly Objective[] {
  const strongest = Math.max(...objectivePowers);
  const own = objectivePower > strongest * (1 + tolerance) ? [Math.round(objectivePower)] : [];
  return [...objectivePowers, ...own].map((power) => {
    const zoom = power / objectivePower;
    return { power, zoom, isDigital: isDigitalZoom(zoom) };
  });
}

/** Whether one image pixel covers more than one screen pixel. */
export function isDigitalZoom(zoom: number): boolean {
  return zoom > 1 + tolerance;
}

export function isSameZoom(a: number, b: number): boolean {
  return Math.abs(a / b - 1) < tolerance;
}
