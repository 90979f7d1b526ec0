/** How the colours of a slide are shown: for the eye alone, the slide stays as it is. */

export interface ColourAdjustment {
  /** 1 is as it was scanned; twice as much is twice as bright. */
  readonly brightness: number;
  /** About the middle grey; 1 is as it was scanned. */
  readonly contrast: number;
  /** Above 1 the dark tones become lighter; 1 is as it was scanned. */
  readonly gamma: number;
  /** 0 is grey, 1 as it was scanned. */
  readonly saturation: number;
}

export const asScanned: ColourAdjustment = { brightness: 1, contrast: 1, gamma: 1, saturation: 1 };

export const ranges: Readonly<Record<keyof ColourAdjustment, readonly [least: number, most: number]>> = {
  brightness: [0.5, 1.5],
  contrast: [0.5, 2],
  gamma: [0.4, 2.5],
  saturation: [0, 2],
};

export function isAsScanned(adjustment: ColourAdjustment): boolean {
  return Object.values(adjustment).every((value) => value === 1);
}

/** What a sample becomes before saturation: both from 0 to 1, in the colours' own encoding (sRGB). */
export function toneOf({ brightness, contrast, gamma }: ColourAdjustment, sample: number): number {
  const stretched = (sample * brightness - 0.5) * contrast + 0.5;
  return Math.min(1, Math.max(0, stretched)) ** (1 / gamma);
}

/**
 * Weights of red, green and blue in each of them, row by row, as the filter effect `saturate` has them.
 *
 * Source: Filter Effects Module Level 1, section 9.6 (feColorMatrix).
 */
export function saturationMatrix(saturation: number): readonly number[] {
  const s = saturation;
  return [
    0.213 + 0.787 * s,
    0.715 - 0.715 * s,
    0.072 - 0.072 * s,
    0.213 - 0.213 * s,
    0.715 + 0.285 * s,
    0.072 - 0.072 * s,
    0.213 - 0.213 * s,
    0.715 - 0.715 * s,
    0.072 + 0.928 * s,
  ];
}

/** The same on pixels: red, green, blue and opacity, 8 bits each. Changes them in place. */
export function adjustPixels(pixels: Uint8ClampedArray, adjustment: ColourAdjustment): void {
  const tones = Float64Array.from({ length: 256 }, (_, sample) => 255 * toneOf(adjustment, sample / 255));
  const m = saturationMatrix(adjustment.saturation);
  const weight = (place: number) => m[place] ?? 0;
  const rows = [0, 3, 6].map((row) => [weight(row), weight(row + 1), weight(row + 2)] as const);
  for (let i = 0; i < pixels.length; i += 4) {
    const red = tones[pixels[i] ?? 0] ?? 0;
    const green = tones[pixels[i + 1] ?? 0] ?? 0;
    const blue = tones[pixels[i + 2] ?? 0] ?? 0;
    for (const [channel, [r, g, b]] of rows.entries()) pixels[i + channel] = r * red + g * green + b * blue;
  }
}
