/**
 * How large what is on the screen is: magnification and scale bar.
 *
 * Zoom here is screen pixels per image pixel at full resolution: 1 shows the scan as it was made, 2 twice as
 * large. Screen pixels are CSS pixels.
 */

import { formatFigure } from '../numbers.ts';

/** What a slide knows of its own scale. */
export interface SlideScale {
  /** Micrometres per pixel at full resolution; null when unknown. */
  readonly mpp: number | null;
  /** The same downwards; absent or null where pixels are square. */
  readonly mppY?: number | null;
  /** Magnification of the scan, e.g. 20 or 40; null when unknown. */
  readonly objectivePower: number | null;
  /** The one of the two that the file does not say: whoever read it worked it out from the other. */
  readonly derived: Calibration['derived'];
}

export interface Calibration {
  readonly mpp: number;
  /** Downwards; absent where pixels are square. */
  readonly mppY?: number;
  readonly objectivePower: number;
  /** The one of the two that was worked out from the other; shown as an estimate. */
  readonly derived: 'mpp' | 'objectivePower' | null;
}

/** 40x is about 0.25 µm per pixel, 20x about 0.5: their product is 10 µm. Scanners differ by some per cent. */
const micrometresTimesPower = 10;
/**
 * A magnification this many times off from what the size of a pixel says is wrong: another objective's, or the
 * scan was made smaller afterwards. The size of a pixel is what matters.
 */
const contradiction = 1.4;

/** Null when the slide says neither. */
export function calibrationOf({ mpp, mppY, objectivePower, derived }: SlideScale): Calibration | null {
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

/** Such as `20×`, `2.5×`, `0.63×`; `≈ 20×` when the scan's own magnification was worked out. */
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

/** The longest bar of a round length (1, 2 or 5 times a power of ten) that is at most `maxWidth` wide. */
export function scaleBarOf({ mpp, derived }: Calibration, zoom: number, maxWidth: number): ScaleBar {
  const micrometresPerPixel = mpp / zoom;
  const longest = micrometresPerPixel * maxWidth;
  const power = 10 ** Math.floor(Math.log10(longest));
  const length = power * ([5, 2].find((step) => step * power <= longest) ?? 1);
  const text = lengthLabel(length);
  return { width: length / micrometresPerPixel, label: derived === 'mpp' ? `≈ ${text}` : text };
}

function lengthLabel(micrometres: number): string {
  const [amount, unit] = micrometres >= 1000 ? [micrometres / 1000, 'mm'] : [micrometres, 'µm'];
  return `${formatFigure(Number(amount.toPrecision(1)))} ${unit}`;
}
