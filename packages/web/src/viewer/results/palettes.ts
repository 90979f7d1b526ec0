/** Colours of values: perceptually uniform palettes that people with colour-blindness can read, too. */
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

type Rgb = readonly [number, number, number];

/** @param share 0 to 1 */
export function colourAt(palette: PaletteName, share: number): Rgb {
  const text = interpolators[palette](Math.min(1, Math.max(0, share)));
  const hex = /^#(..)(..)(..)$/.exec(text)?.slice(1);
  if (hex !== undefined) return triple(hex.map((part) => Number.parseInt(part, 16)));
  return triple((text.match(/\d+/g) ?? []).map(Number));
}

function triple([red = 0, green = 0, blue = 0]: readonly number[]): Rgb {
  return [red, green, blue];
}

/**
 * Returns a CSS gradient from the lowest to the highest value.
 *
 * @param from share of the width, 0 to 1, where the palette starts; before it is the first colour
 * @param to where it ends; after it is the last colour
 */
export function gradientOf(palette: PaletteName, from = 0, to = 1): string {
  const stops = Array.from({ length: 9 }, (_, stop) => {
    const place = from + (to - from) * (stop / 8);
    return `rgb(${colourAt(palette, stop / 8).join(' ')}) ${Number((100 * place).toFixed(2))}%`;
  });
  return `linear-gradient(to right, ${stops.join(', ')})`;
}
