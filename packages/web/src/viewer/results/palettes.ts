/**
 * Palettes that show the values of result layers (such as computed heatmaps) as colours. They are perceptually uniform,
 * and readable with colour blindness.
 */
import {
  interpolateCividis,
  interpolateInferno,
  interpolateMagma,
  interpolateViridis,
} from 'd3-scale-chromatic';

/** Source of the palettes: matplotlib (viridis, magma, inferno); Nuñez et al. 2018, PLoS ONE 13(7) (cividis). */
const interpolators = {
  viridis: interpolateViridis,
  magma: interpolateMagma,
  inferno: interpolateInferno,
  cividis: interpolateCividis,
} as const;

export type PaletteName = keyof typeof interpolators;
export const paletteNames = Object.keys(interpolators) as readonly PaletteName[];

type Rgb = readonly [red: number, green: number, blue: number];

/** Returns a colour of a palette as red, green and blue from 0 to 255. @param position 0 (lowest value) to 1 (highest value) */
export function colourAt(palette: PaletteName, position: number): Rgb {
  // d3 returns `#rrggbb` for some palettes and `rgb(r, g, b)` for others.
  const text = interpolators[palette](Math.min(1, Math.max(0, position)));
  const hex = /^#(..)(..)(..)$/.exec(text)?.slice(1);
  if (hex !== undefined) return toRgb(hex.map((part) => Number.parseInt(part, 16)));
  return toRgb((text.match(/\d+/g) ?? []).map(Number));
}

function toRgb([red = 0, green = 0, blue = 0]: readonly number[]): Rgb {
  return [red, green, blue];
}

/**
 * Returns a CSS gradient of a palette from left to right. Outside of `start` and `end`, the gradient has the first and the last
 * colour.
 *
 * @param start where the palette starts, as a fraction of the width, 0 to 1
 * @param end where the palette ends
 */
export function gradientOf(palette: PaletteName, start = 0, end = 1): string {
  const intervals = 8; // parts of the gradient in which CSS interpolates between two colours of the palette
  const stops = Array.from({ length: intervals + 1 }, (_, stop) => {
    const position = stop / intervals;
    const percent = 100 * (start + (end - start) * position);
    return `rgb(${colourAt(palette, position).join(' ')}) ${Number(percent.toFixed(2))}%`;
  });
  return `linear-gradient(to right, ${stops.join(', ')})`;
}
