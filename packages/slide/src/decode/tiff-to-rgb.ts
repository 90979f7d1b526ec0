import type { TiffCoding, TiffColour } from '../model/slide.ts';
import type { Colour, Raster } from './raster.ts';
import { samplesToRgb } from './samples-to-rgb.ts';

/** The background behind transparent pixels: white, like empty glass. */
export const GLASS: Colour = { r: 255, g: 255, b: 255 };

/**
 * Converts the samples of a TIFF image to RGB pixels, blended with the background if they are transparent.
 *
 * Source: TIFF 6.0, PhotometricInterpretation (section 8) and sections 5 (palettes), 16 (CMYK), 18 (alpha) and 21 (YCbCr).
 *
 * @param samples as `readTiffSamples` returns them: interleaved, one byte each
 */
export function tiffSamplesToRgb(
  samples: Uint8Array,
  width: number,
  height: number,
  coding: TiffCoding,
): Raster {
  const { samplesPerPixel, colour } = coding;
  const rgb = coloursToRgb(samples, width, height, coding);
  if (colour.alpha) blendWithGlass(rgb, samples, samplesPerPixel, colour.alpha, scaleTableOf(coding));
  return { width, height, rgb };
}

function coloursToRgb(samples: Uint8Array, width: number, height: number, coding: TiffCoding): Uint8Array {
  const { samplesPerPixel, colour } = coding;
  const pixels = width * height;
  switch (colour.model) {
    case 'grey':
      return greyToRgb(samples, pixels, samplesPerPixel, scaleTableOf(coding, colour.isInverted));
    case 'palette':
      return paletteToRgb(samples, pixels, samplesPerPixel, colour.palette);
    case 'cmyk':
      return cmykToRgb(samples, pixels, samplesPerPixel);
    case 'rgb':
      return pickRgb(samples, pixels, samplesPerPixel, scaleTableOf(coding));
    case 'ycc': {
      const values = pickRgb(samples, pixels, samplesPerPixel, scaleTableOf(coding));
      const ycc = { width, height, samplesPerPixel: 3, values, isPlanar: false, maximum: 255 };
      return samplesToRgb(ycc, 'ycc').rgb;
    }
  }
}

/** Returns a table that scales (and inverts) sample values to 0…255; null when it would not change any value. */
function scaleTableOf({ bits }: TiffCoding, isInverted = false): Uint8Array | null {
  if (bits >= 8 && !isInverted) return null;
  // Samples of 16 bits are reduced to their high byte when they are read.
  const maximum = bits >= 8 ? 255 : 2 ** bits - 1;
  return Uint8Array.from({ length: maximum + 1 }, (_, value) => {
    const scaled = (value * 255) / maximum;
    return isInverted ? 255 - scaled : scaled;
  });
}

function greyToRgb(samples: Uint8Array, pixels: number, samplesPerPixel: number, scale: Uint8Array | null) {
  const rgb = new Uint8Array(pixels * 3);
  for (let from = 0, to = 0; to < rgb.length; from += samplesPerPixel, to += 3) {
    const value = samples[from] as number;
    const grey = scale ? (scale[value] as number) : value;
    rgb[to] = grey;
    rgb[to + 1] = grey;
    rgb[to + 2] = grey;
  }
  return rgb;
}

/** Converts palette indices; an index beyond the palette is black. */
function paletteToRgb(samples: Uint8Array, pixels: number, samplesPerPixel: number, palette: Uint8Array) {
  const rgb = new Uint8Array(pixels * 3);
  for (let from = 0, to = 0; to < rgb.length; from += samplesPerPixel, to += 3) {
    const entry = (samples[from] as number) * 3;
    rgb[to] = palette[entry] as number;
    rgb[to + 1] = palette[entry + 1] as number;
    rgb[to + 2] = palette[entry + 2] as number;
  }
  return rgb;
}

/** Converts CMYK (always 8 or 16 bits, so unscaled) without an ink profile, by the formula of libtiff's TIFFReadRGBAImage. */
function cmykToRgb(samples: Uint8Array, pixels: number, samplesPerPixel: number) {
  const rgb = new Uint8Array(pixels * 3);
  for (let from = 0, to = 0; to < rgb.length; from += samplesPerPixel, to += 3) {
    const light = 255 - (samples[from + 3] as number);
    rgb[to] = (light * (255 - (samples[from] as number))) / 255;
    rgb[to + 1] = (light * (255 - (samples[from + 1] as number))) / 255;
    rgb[to + 2] = (light * (255 - (samples[from + 2] as number))) / 255;
  }
  return rgb;
}

/** Returns the first three samples of each pixel, without alpha and other extra samples. */
function pickRgb(samples: Uint8Array, pixels: number, samplesPerPixel: number, scale: Uint8Array | null) {
  if (samplesPerPixel === 3 && scale === null) return samples;
  const rgb = new Uint8Array(pixels * 3);
  for (let from = 0, to = 0; to < rgb.length; from += samplesPerPixel) {
    for (let sample = from; sample < from + 3; sample++) {
      const value = samples[sample] as number;
      rgb[to++] = scale ? (scale[value] as number) : value;
    }
  }
  return rgb;
}

/**
 * Blends pixels with the background, in place. `sample` is the index of the alpha sample in a pixel. If alpha is
 * associated, the stored colours are already multiplied by alpha.
 */
function blendWithGlass(
  rgb: Uint8Array,
  samples: Uint8Array,
  samplesPerPixel: number,
  { sample, isAssociated }: NonNullable<TiffColour['alpha']>,
  scale: Uint8Array | null,
): void {
  const glass = [GLASS.r, GLASS.g, GLASS.b] as const;
  for (let at = 0, from = sample; at < rgb.length; at += 3, from += samplesPerPixel) {
    const value = samples[from] as number;
    const alpha = scale ? (scale[value] as number) : value;
    if (alpha === 255) continue;
    for (const [i, background] of glass.entries()) {
      const foreground = (rgb[at + i] as number) * (isAssociated ? 255 : alpha);
      // The Uint8Array truncates, so + 0.5 rounds.
      rgb[at + i] = Math.min(255, (foreground + background * (255 - alpha)) / 255 + 0.5);
    }
  }
}
