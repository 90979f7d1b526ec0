/**
 * The colour adjustment of a displayed slide: brightness, contrast, gamma, saturation and white balance. The file of the slide
 * does not change.
 */

export interface ColourAdjustment {
  /** Factor of every sample (the red, green or blue value of a pixel); 1 is as scanned. */
  readonly brightness: number;
  /** Factor of the distance from middle grey; 1 is as scanned. */
  readonly contrast: number;
  /** Above 1, dark tones become lighter; 1 is as scanned. */
  readonly gamma: number;
  /** 0 is grey, 1 is as scanned. */
  readonly saturation: number;
  /** White point: the colour of empty glass, which is shown as white; null is as scanned. */
  readonly white: Colour | null;
}

/** Red, green and blue in sRGB, each from 0 to 1. */
export type Colour = readonly [red: number, green: number, blue: number];

/** The values that have a slider. */
export type AdjustedValue = Exclude<keyof ColourAdjustment, 'white'>;

/** The adjustment that changes nothing. */
export const asScanned: ColourAdjustment = {
  brightness: 1,
  contrast: 1,
  gamma: 1,
  saturation: 1,
  white: null,
};

/** Minimum of each channel of a white point: empty glass is bright, and a white point on tissue would falsify the colours. */
const minWhiteChannel = 0.5;

/** Ranges of the sliders. */
export const ranges: Readonly<Record<AdjustedValue, readonly [min: number, max: number]>> = {
  brightness: [0.5, 1.5],
  contrast: [0.5, 2],
  gamma: [0.4, 2.5],
  saturation: [0, 2],
};

/** Returns whether an adjustment leaves all colours unchanged. */
export function isAsScanned(adjustment: ColourAdjustment): boolean {
  return adjustment.white === null && changesOf(adjustment).length === 0;
}

/** Returns whether a colour is bright enough to be empty glass, and thus a white point. */
export function isBackground(colour: Colour): boolean {
  return Math.min(...colour) >= minWhiteChannel;
}

/** Returns the slider values that differ from 1 (as scanned), in the order of the sliders; the white point has no slider. */
export function changesOf(
  adjustment: ColourAdjustment,
): readonly (readonly [name: AdjustedValue, value: number])[] {
  const names = Object.keys(ranges) as AdjustedValue[];
  return names.filter((name) => adjustment[name] !== 1).map((name) => [name, adjustment[name]] as const);
}

/**
 * Returns the linear function that combines white balance, brightness and contrast. It converts a sample from 0 to 1 to
 * slope of the channel × sample + `intercept`.
 */
export function linearToneOf({ brightness, contrast, white }: ColourAdjustment): {
  readonly slopes: Colour;
  readonly intercept: number;
} {
  const slopeOf = (whiteSample: number) => (brightness * contrast) / whiteSample;
  const [red, green, blue] = white ?? [1, 1, 1];
  // Middle grey, the sample 0.5, keeps its value at every contrast.
  return { slopes: [slopeOf(red), slopeOf(green), slopeOf(blue)], intercept: 0.5 - 0.5 * contrast };
}

/**
 * Returns a sample after white balance, brightness, contrast and gamma; sRGB, clipped to 0 to 1.
 *
 * @param channel index of the sample's channel: 0 red, 1 green, 2 blue; only the white balance depends on the channel
 */
export function toneOf(adjustment: ColourAdjustment, sample: number, channel: 0 | 1 | 2 = 0): number {
  const { slopes, intercept } = linearToneOf(adjustment);
  return Math.min(1, Math.max(0, sample * slopes[channel] + intercept)) ** (1 / adjustment.gamma);
}

/**
 * Returns the 3 × 3 matrix with which the SVG filter effect `saturate` changes red, green and blue, row by row.
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

/** Adjusts RGBA pixels of 8 bits in place. */
export function adjustPixels(pixels: Uint8ClampedArray, adjustment: ColourAdjustment): void {
  // The tone, scaled to 0 to 255, of each of the 256 possible samples, for each channel.
  const [reds, greens, blues] = ([0, 1, 2] as const).map((channel) =>
    Float64Array.from({ length: 256 }, (_, sample) => 255 * toneOf(adjustment, sample / 255, channel)),
  );
  const matrix = saturationMatrix(adjustment.saturation);
  const weight = (index: number) => matrix[index] ?? 0;
  const rows = [0, 3, 6].map((start) => [weight(start), weight(start + 1), weight(start + 2)] as const);
  for (let i = 0; i < pixels.length; i += 4) {
    const red = reds?.[pixels[i] ?? 0] ?? 0;
    const green = greens?.[pixels[i + 1] ?? 0] ?? 0;
    const blue = blues?.[pixels[i + 2] ?? 0] ?? 0;
    for (const [channel, [r, g, b]] of rows.entries()) pixels[i + channel] = r * red + g * green + b * blue;
  }
}
