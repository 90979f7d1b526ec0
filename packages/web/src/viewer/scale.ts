/**
 * Magnification and scale bar.
 *
 * Zoom here is screen pixels per image pixel at full resolution: 1 shows the scan as it was made, 2 twice as
 * large. Screen pixels are CSS pixels.
 */

import { formatFigure } from '../formatting/numbers.ts';

/** The scale of a slide as the server reports it. */
export interface SlideScale {
  /** Micrometres per pixel at full resolution; null when unknown. */
  readonly mpp: number | null;
  /** Vertical value; absent or null where pixels are square. */
  readonly mppY?: number | null;
  /** Magnification of the scan, e.g. 20 or 40; null when unknown. */
  readonly objectivePower: number | null;
  /** Which of the two the server derived from the other because the file lacks it. */
  readonly derived: Calibration['derived'];
  /** An administrator entered it in place of that of the file. */
  readonly isEntered?: boolean;
}

export interface Calibration {
  readonly mpp: number;
  /** Vertical value; absent where pixels are square. */
  readonly mppY?: number;
  readonly objectivePower: number;
  /** Which of the two was derived from the other; shown as an estimate. */
  readonly derived: 'mpp' | 'objectivePower' | null;
  /** An administrator entered the scale; lengths are marked with an asterisk. */
  readonly isEntered?: true;
}

/** 40x is about 0.25 µm per pixel, 20x about 0.5: their product is 10 µm. Scanners differ by some per cent. */
const micrometresTimesPower = 10;
/**
 * A magnification that differs from the one derived from the pixel size by this factor is wrong: the scan was made with another
 * objective or reduced afterwards. The pixel size takes precedence.
 */
const contradiction = 1.4;

/** Returns null when the slide has neither value. */
export function calibrationOf(scale: SlideScale): Calibration | null {
  const calibration = withoutMark(scale);
  return calibration === null || !scale.isEntered ? calibration : { ...calibration, isEntered: true };
}

function withoutMark({ mpp, mppY, objectivePower, derived }: SlideScale): Calibration | null {
  const knownMpp = mpp !== null && mpp > 0 ? mpp : null;
  const knownPower = objectivePower !== null && objectivePower > 0 ? objectivePower : null;
  const isSquare = mppY === undefined || mppY === null || !(mppY > 0) || mppY === mpp;
  const notSquare = isSquare ? {} : { mppY };
  if (knownMpp !== null && knownPower !== null && agree(knownMpp, knownPower)) {
    return { mpp: knownMpp, ...notSquare, objectivePower: knownPower, derived };
  }
  if (knownMpp !== null) {
    const objectivePower = micrometresTimesPower / knownMpp;
    return { mpp: knownMpp, ...notSquare, objectivePower, derived: 'objectivePower' };
  }
  if (knownPower !== null) {
    return { mpp: micrometresTimesPower / knownPower, objectivePower: knownPower, derived: 'mpp' };
  }
  return null;
}

function agree(mpp: number, objectivePower: number): boolean {
  const ratio = (mpp * objectivePower) / micrometresTimesPower;
  return ratio < contradiction && ratio > 1 / contradiction;
}

/** Returns such as `20×`, `2.5×`, `0.63×`; `≈ 20×` when the magnification of the scan was derived. */
export function magnificationLabel({ objectivePower, derived }: Calibration, zoom: number): string {
  const magnification = objectivePower * zoom;
  const digits = magnification >= 10 ? 0 : magnification >= 1 ? 1 : 2;
  const text = `${formatFigure(Number(magnification.toFixed(digits)))}×`;
  return derived === 'objectivePower' ? `≈ ${text}` : text;
}

export interface ScaleBar {
  /** Screen pixels. */
  readonly width: number;
  /** Such as `200 µm` or `1 mm`. */
  readonly label: string;
}

/** Returns the longest bar of a round length (1, 2 or 5 times a power of ten) up to `maxWidth`. */
export function scaleBarOf(calibration: Calibration, zoom: number, maxWidth: number): ScaleBar {
  const { mpp } = calibration;
  const micrometresPerPixel = mpp / zoom;
  const longest = micrometresPerPixel * maxWidth;
  const power = 10 ** Math.floor(Math.log10(longest));
  const length = power * ([5, 2].find((step) => step * power <= longest) ?? 1);
  return { width: length / micrometresPerPixel, label: marked(calibration, lengthLabel(length)) };
}

/** Returns a measure with its marks: `≈` for an estimated pixel size, `*` for an entered scale. */
export function marked({ derived, isEntered }: Calibration, measure: string): string {
  return `${derived === 'mpp' ? '≈ ' : ''}${measure}${isEntered ? '*' : ''}`;
}

function lengthLabel(micrometres: number): string {
  const [amount, unit] = micrometres >= 1000 ? [micrometres / 1000, 'mm'] : [micrometres, 'µm'];
  return `${formatFigure(Number(amount.toPrecision(1)))} ${unit}`;
}
