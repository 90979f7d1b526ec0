/**
 * Computes the scale of a slide, its magnification and its scale bar.
 *
 * In this file, a zoom is the number of CSS pixels per image pixel at full resolution: 1 shows the scan at its own
 * resolution, 2 shows it twice as large.
 */

import { formatMeasuredValue } from '../formatting/numbers.ts';

/** The scale of a slide as the server reports it; it may be incomplete. */
export interface SlideScale {
  /** Micrometres per pixel at full resolution, horizontally if `mppY` differs; null when unknown. */
  readonly mpp: number | null;
  /** Height of a pixel in micrometres; absent or null when pixels are square. */
  readonly mppY?: number | null;
  /** Magnification of the scan, e.g. 20 or 40; null when unknown. */
  readonly objectivePower: number | null;
  /** Which of `mpp` and `objectivePower` the server derived from the other because the file lacks it; null for neither. */
  readonly derived: Calibration['derived'];
  /** Whether an administrator entered the scale, which then replaces the scale of the file. */
  readonly isEntered?: boolean;
}

/** A complete scale: pixel size and magnification are both known, or one is derived from the other. */
export interface Calibration {
  /** Micrometres per pixel at full resolution, horizontally if `mppY` differs. */
  readonly mpp: number;
  /** Height of a pixel in micrometres; absent when pixels are square. */
  readonly mppY?: number;
  /** Magnification of the scan. */
  readonly objectivePower: number;
  /** Which of the two values was derived from the other one; the page marks it as an estimate. Null for neither. */
  readonly derived: 'mpp' | 'objectivePower' | null;
  /** True when an administrator entered the scale; lengths are then marked with an asterisk. */
  readonly isEntered?: true;
}

/**
 * Product of pixel size in micrometres and magnification: a scan at 40× has about 0.25 µm per pixel, at 20× about 0.5 µm.
 * Scanners deviate from this product by some per cent.
 */
const mppTimesPower = 10;
/**
 * A stated magnification counts as wrong if it differs by at least this factor from the magnification that follows from the pixel size:
 * the scan was made with another objective, or the image was reduced afterwards. `calibrationOf` then uses only the pixel size.
 */
const contradictionFactor = 1.4;

/** Returns the calibration of a slide; null when it has neither a pixel size nor a magnification. */
export function calibrationOf(scale: SlideScale): Calibration | null {
  const calibration = calibrationWithoutEntry(scale);
  return calibration === null || !scale.isEntered ? calibration : { ...calibration, isEntered: true };
}

/** Returns the calibration of a slide without `isEntered`. */
function calibrationWithoutEntry({ mpp, mppY, objectivePower, derived }: SlideScale): Calibration | null {
  const validMpp = mpp !== null && mpp > 0 ? mpp : null;
  const validPower = objectivePower !== null && objectivePower > 0 ? objectivePower : null;
  // An invalid height is ignored; `!(mppY > 0)` also covers NaN.
  const isSquare = mppY === undefined || mppY === null || !(mppY > 0) || mppY === mpp;
  const mppYUnlessSquare = isSquare ? {} : { mppY };
  if (validMpp !== null && validPower !== null && areConsistent(validMpp, validPower)) {
    return { mpp: validMpp, ...mppYUnlessSquare, objectivePower: validPower, derived };
  }
  if (validMpp !== null) {
    const derivedPower = mppTimesPower / validMpp; // the stated magnification is missing or contradictory
    return { mpp: validMpp, ...mppYUnlessSquare, objectivePower: derivedPower, derived: 'objectivePower' };
  }
  if (validPower !== null) {
    return { mpp: mppTimesPower / validPower, objectivePower: validPower, derived: 'mpp' };
  }
  return null;
}

/** Returns whether a pixel size and a magnification fit each other, within `contradictionFactor`. */
function areConsistent(mpp: number, objectivePower: number): boolean {
  const ratio = (mpp * objectivePower) / mppTimesPower;
  return ratio < contradictionFactor && ratio > 1 / contradictionFactor;
}

/**
 * Returns the magnification at a zoom as a text such as `20×`, `2.5×` or `0.63×`; `≈ 20×` when the magnification of the scan was
 * derived from the pixel size.
 */
export function magnificationLabel({ objectivePower, derived }: Calibration, zoom: number): string {
  const magnification = objectivePower * zoom;
  const text = `${formatMeasuredValue(Number(magnification.toFixed(decimalsOf(magnification))))}×`;
  return derived === 'objectivePower' ? `≈ ${text}` : text;
}

function decimalsOf(magnification: number): number {
  if (magnification >= 10) return 0;
  return magnification >= 1 ? 1 : 2;
}

export interface ScaleBar {
  /** In CSS pixels. */
  readonly width: number;
  /** Length of the bar, such as `200 µm` or `1 mm`. */
  readonly label: string;
}

/**
 * Returns the longest scale bar of a round length (1, 2 or 5 times a power of ten) that is at most `maxWidth` CSS pixels wide.
 *
 * @param rotation of the slide in degrees: the bar is horizontal on the screen and may lie along the height of the pixels
 */
export function scaleBarOf(
  calibration: Calibration,
  { zoom, rotation }: { readonly zoom: number; readonly rotation: number },
  maxWidth: number,
): ScaleBar {
  const { mpp, mppY = mpp } = calibration;
  const angle = (rotation * Math.PI) / 180;
  const micrometresPerPixel = Math.hypot(mpp * Math.cos(angle), mppY * Math.sin(angle)) / zoom;
  const maxLength = micrometresPerPixel * maxWidth;
  const powerOfTen = 10 ** Math.floor(Math.log10(maxLength));
  const length = powerOfTen * ([5, 2].find((step) => step * powerOfTen <= maxLength) ?? 1);
  return { width: length / micrometresPerPixel, label: withScaleMarks(calibration, lengthLabel(length)) };
}

/**
 * Returns a length or an area with `≈` before it when the pixel size is an estimate, and `*` after it when the scale was entered.
 */
export function withScaleMarks({ derived, isEntered }: Calibration, measure: string): string {
  return `${derived === 'mpp' ? '≈ ' : ''}${measure}${isEntered ? '*' : ''}`;
}

/**
 * Returns a length such as `200 µm` or `1 mm`.
 *
 * @param micrometres 1, 2 or 5 times a power of ten, except for rounding errors, which the function removes
 */
function lengthLabel(micrometres: number): string {
  const [amount, unit] = micrometres >= 1000 ? [micrometres / 1000, 'mm'] : [micrometres, 'µm'];
  return `${formatMeasuredValue(Number(amount.toPrecision(1)))} ${unit}`;
}
