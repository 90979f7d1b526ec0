import { type SampleColour, SlideError } from '../model/slide.ts';
import type { Raster } from './raster.ts';

/** Samples as a decoder returns them. */
export interface Samples {
  /** Size in pixels. */
  readonly width: number;
  readonly height: number;
  readonly samplesPerPixel: number;
  /** width × height × samplesPerPixel. */
  readonly values: Uint8Array | Uint16Array;
  /** True when each component has its own plane, false when the samples of a pixel are adjacent. */
  readonly isPlanar: boolean;
  /** The largest possible sample, for example 255 for 8 bits; shown as white when no range is declared. */
  readonly maximum: number;
}

/**
 * Converts samples to RGB pixels.
 *
 * @param colour meaning of the samples; null means RGB for three samples per pixel, grey from 0 (black) to `maximum`
 *   (white) for one
 * @throws SlideError FORMAT_NOT_SUPPORTED for an unsupported number or size of samples
 */
export function samplesToRgb(samples: Samples, colour: SampleColour | null): Raster {
  const { width, height, samplesPerPixel, values, maximum } = samples;
  if (samplesPerPixel === 1) {
    const range = typeof colour === 'object' && colour !== null ? colour : { black: 0, white: maximum };
    return { width, height, rgb: greyToRgb(values, range.black, range.white) };
  }
  if (samplesPerPixel !== 3 || maximum !== 255 || !(values instanceof Uint8Array)) {
    throw new SlideError(
      'FORMAT_NOT_SUPPORTED',
      `Not supported: ${samplesPerPixel} samples per pixel with values up to ${maximum}`,
    );
  }
  const rgb = samples.isPlanar ? interleave(values, width * height) : values;
  return { width, height, rgb: colour === 'ycc' ? yccToRgb(rgb) : rgb };
}

/** Converts three planes to pixels of three adjacent samples. */
function interleave(planes: Uint8Array, pixels: number): Uint8Array {
  const rgb = new Uint8Array(pixels * 3);
  for (let i = 0, to = 0; i < pixels; i++) {
    rgb[to++] = planes[i] as number;
    rgb[to++] = planes[pixels + i] as number;
    rgb[to++] = planes[2 * pixels + i] as number;
  }
  return rgb;
}

/**
 * Scales grey samples linearly, so that `black` becomes 0 and `white` 255; for inverted samples `black` is larger than `white`. If
 * both are equal, larger samples are white and all others black. Source: DICOM PS3.3 C.11.2.1.2.1.
 */
function greyToRgb(values: Uint8Array | Uint16Array, black: number, white: number): Uint8Array {
  const slope = 255 / (white - black);
  const greyOf = (value: number) => {
    if (white === black) return value > black ? 255 : 0;
    return Math.round(Math.min(Math.max((value - black) * slope, 0), 255));
  };
  const possibleValues = values instanceof Uint8Array ? 256 : 65_536;
  const greys = Uint8Array.from({ length: possibleValues }, (_, value) => greyOf(value));
  const rgb = new Uint8Array(values.length * 3);
  for (let i = 0, to = 0; i < values.length; i++) {
    const grey = greys[values[i] as number] as number;
    rgb[to++] = grey;
    rgb[to++] = grey;
    rgb[to++] = grey;
  }
  return rgb;
}

/**
 * Lookup tables: the number that each value of Cb or Cr adds to red, green or blue. The values for green are scaled by
 * 65,536, because only their sum is rounded; the 0.5 in the table for Cb makes the shift by 16 bits round.
 */
const contributions = {
  red: Int16Array.from({ length: 256 }, (_, cr) => roundHalfAwayFromZero(1.402 * (cr - 128))),
  greenByCb: Int32Array.from({ length: 256 }, (_, cb) =>
    roundHalfAwayFromZero(2 ** 16 * (0.5 - 0.34414 * (cb - 128))),
  ),
  greenByCr: Int32Array.from({ length: 256 }, (_, cr) =>
    roundHalfAwayFromZero(2 ** 16 * (-0.71414 * (cr - 128))),
  ),
  blue: Int16Array.from({ length: 256 }, (_, cb) => roundHalfAwayFromZero(1.772 * (cb - 128))),
};

function roundHalfAwayFromZero(value: number): number {
  return Math.sign(value) * Math.floor(Math.abs(value) + 0.5);
}

/**
 * Converts YCbCr to RGB. Source: JFIF 1.02 (ITU-T T.871 section 7). Results are rounded as in OpenSlide, so that both
 * programs show the same pixels.
 */
function yccToRgb(ycc: Uint8Array): Uint8Array {
  const rgb = new Uint8ClampedArray(ycc.length);
  for (let i = 0; i < ycc.length; i += 3) {
    const y = ycc[i] as number;
    const cb = ycc[i + 1] as number;
    const cr = ycc[i + 2] as number;
    rgb[i] = y + (contributions.red[cr] as number);
    rgb[i + 1] =
      y + (((contributions.greenByCb[cb] as number) + (contributions.greenByCr[cr] as number)) >> 16);
    rgb[i + 2] = y + (contributions.blue[cb] as number);
  }
  return new Uint8Array(rgb.buffer);
}
