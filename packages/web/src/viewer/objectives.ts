/** Converts the objectives of a microscope (10×, 20×, …) into zooms of a slide, for the buttons below the slide. */
import type { Calibration } from './scale.ts';

/** Magnifications of the objectives of a usual microscope. */
const objectivePowers = [1.25, 2.5, 5, 10, 20, 40];
/** The zooms that a slide without a scale offers, in CSS pixels per image pixel. */
export const uncalibratedZooms = [0.25, 0.5, 1] as const;

/**
 * Zooms that differ by less than this fraction count as the same: scanners report slightly different figures for one objective.
 */
const tolerance = 0.02;

export interface Objective {
  /** Magnification, such as 20. */
  readonly power: number;
  /** CSS pixels per image pixel at full resolution. */
  readonly zoom: number;
  /** Whether the zoom exceeds the resolution of the scan. */
  readonly isDigital: boolean;
}

/** Returns the objectives from the weakest to the strongest; a scan at more than 40×, such as 60×, adds its own power. */
export function objectivesOf({ objectivePower }: Calibration): readonly Objective[] {
  const strongest = Math.max(...objectivePowers);
  const isStronger = objectivePower > strongest * (1 + tolerance);
  const additionalPowers = isStronger ? [Math.round(objectivePower)] : [];
  return [...objectivePowers, ...additionalPowers].map((power) => {
    const zoom = power / objectivePower;
    return { power, zoom, isDigital: isDigitalZoom(zoom) };
  });
}

/** Returns whether a zoom enlarges the scan, so that one image pixel covers more than one CSS pixel. */
export function isDigitalZoom(zoom: number): boolean {
  return zoom > 1 + tolerance;
}

/** Returns whether two zooms differ by less than 2 %. */
export function isSameZoom(a: number, b: number): boolean {
  return Math.abs(a / b - 1) < tolerance;
}
