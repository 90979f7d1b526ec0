/** The steps of magnification a microscope has, as zooms of a scan. */
import type { Calibration } from './scale.ts';

export const objectivePowers = [1.25, 2.5, 5, 10, 20, 40] as const;
export type ObjectivePower = (typeof objectivePowers)[number];

/** Within it two zooms are the same: scanners' figures for one objective differ by that much. */
const tolerance = 0.02;

export interface Objective {
  readonly power: ObjectivePower;
  /** Screen pixels per image pixel. */
  readonly zoom: number;
  /** Whether the scan has less to show than this asks for. */
  readonly isDigital: boolean;
}

/** From the weakest to the strongest. */
export function objectivesOf({ objectivePower }: Calibration): readonly Objective[] {
  return objectivePowers.map((power) => {
    const zoom = power / objectivePower;
    return { power, zoom, isDigital: isDigitalZoom(zoom) };
  });
}

/** Whether one image pixel covers more than one pixel of the screen. */
export function isDigitalZoom(zoom: number): boolean {
  return zoom > 1 + tolerance;
}

export function isSameZoom(a: number, b: number): boolean {
  return Math.abs(a / b - 1) < tolerance;
}
