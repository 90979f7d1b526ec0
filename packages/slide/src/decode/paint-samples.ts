import { type SampleColour, SlideError } from '../slide.ts';
import type { Raster } from './raster.ts';

/** Samples as a decoder leaves them. */
export interface Samples {
  /** Pixels. */
  readonly width: number;
  readonly height: number;
  readonly samplesPerPixel: number;
  /** width × height × samplesPerPixel. */
  readonly values: Uint8Array | Uint16Array;
  /** Each sample of all pixels in a plane of its own; else those of one pixel stand together. */
  readonly isPlanar: boolean;
  /** What white is where nothing else is said: 255 for 8 bits. */
  readonly maximum: number;
}

/**
 * Samples to pixels.
 *
 * @param colour null: RGB, or grey from 0 to `maximum`
 * @throws SlideError FORMAT_NOT_SUPPORTED for a number of samples, or a size of them, that is not read
 */
export function paintSamples(samples: Samples, colour: SampleColour | null): Raster {
  const { width, height, samplesPerPixel, values, maximum } = samples;
  if (samplesPerPixel === 1) {
    const range = typeof colour === 'object' && colour !== null ? colour : { black: 0, white: maximum };
    return { width, height, rgb: paintGrey(values, range.black, range.white) };
  }
  if (samplesPerPixel !== 3 || maximum !== 255 || !(values instanceof Uint8Array)) {
    throw new SlideError(
      'FORMAT_NOT_SUPPORTED',
      `Not read: ${samplesPerPixel} samples up to ${maximum} a pixel`,
    );
  }
  const rgb = samples.isPlanar ? interleave(values, width * height) : values;
  return { width, height, rgb: colour === 'ycc' ? yccToRgb(rgb) : rgb };
}

function interleave(planes: Uint8Array, pixels: number): Uint8Array {
  const rgb = new Uint8Array(pixels * 3);
  for (let i = 0, to = 0; i < pixels; i++) {
    rgb[to++] = planes[i] as number;
    rgb[to++] = planes[pixels + i] as number;
    rgb[to++] = planes[2 * pixels + i] as number;
  }
  return rgb;
}

/** Source: DICOM PS3.3 C.11.2.1.2.1 (a window is a straight line between two values). */
function paintGrey(values: Uint8Array | Uint16Array, black: number, white: number): Uint8Array {
  const slope = white === black ? 0 : 255 / (white - black);
  const rgb = new Uint8Array(values.length * 3);
  for (let i = 0, to = 0; i < values.length; i++) {
    const value = values[i] as number;
    const exact = slope === 0 ? (value > black ? 255 : 0) : (value - black) * slope;
    const grey = exact <= 0 ? 0 : exact >= 255 ? 255 : Math.round(exact);
    rgb[to++] = grey;
    rgb[to++] = grey;
    rgb[to++] = grey;
  }
  return rgb;
}

/** Source: ITU-T T.871, section 7. */
function yccToRgb(ycc: Uint8Array): Uint8Array {
  const rgb = new Uint8ClampedArray(ycc.length);
  for (let i = 0; i < ycc.length; i += 3) {
    const y = ycc[i] as number;
    const cb = (ycc[i + 1] as number) - 128;
    const cr = (ycc[i + 2] as number) - 128;
    rgb[i] = y + 1.402 * cr;
    rgb[i + 1] = y - 0.344136 * cb - 0.714136 * cr;
    rgb[i + 2] = y + 1.772 * cb;
  }
  return new Uint8Array(rgb.buffer);
}
