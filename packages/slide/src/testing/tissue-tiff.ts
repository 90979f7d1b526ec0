/** Plans of TIFF files with an image of tissue or of grey values, and the pixels that a reader must return for these files. */
import type { Raster } from '../decode/raster.ts';
import { describeDeepZoom } from '../deep-zoom/deep-zoom.ts';
import type { Slide } from '../model/slide.ts';
import { renderPixels } from '../render/render-pixels.ts';
import { buildTiff, type DirectoryPlan } from './build-tiff.ts';
import type { SamplesPlan } from './encode-samples.ts';
import { openBytes } from './open-bytes.ts';
import { paintTissue } from './paint-tissue.ts';

/** Size of the images in pixels; not a multiple of any tile or strip size in the tests. */
export const [WIDTH, HEIGHT] = [101, 75];
/** The RGB samples of the tissue. */
export const { rgb: tissueSamples } = paintTissue(WIDTH, HEIGHT);

/** Opens a file with one directory as a slide. */
export const openTiffOf = (directory: DirectoryPlan, isLittleEndian = true, isBig = false) =>
  openBytes(buildTiff({ directories: [directory], isLittleEndian, isBig }).bytes);

/** Renders a slide at full resolution. */
export function renderFull(slide: Slide): Promise<Raster> {
  const { width, height, maxLevel } = describeDeepZoom(slide);
  return renderPixels(slide, { dziLevel: maxLevel, x: 0, y: 0, width, height });
}

/** Builds an image of WIDTH × HEIGHT pixels. @param colourAt returns the colour of a pixel; pixels count row by row */
export function pictureOf(colourAt: (pixel: number) => readonly [number, number, number]): Raster {
  const pixels = WIDTH * HEIGHT;
  return {
    width: WIDTH,
    height: HEIGHT,
    rgb: Uint8Array.from({ length: pixels * 3 }, (_, i) => colourAt(Math.floor(i / 3))[i % 3] as number),
  };
}
/** Builds a grey image of WIDTH × HEIGHT pixels. @param greyAt returns the sample of a pixel */
export const greyPicture = (greyAt: (pixel: number) => number) =>
  pictureOf((pixel) => [greyAt(pixel), greyAt(pixel), greyAt(pixel)]);
/** Returns a sample of the tissue. @param sample 0 red, 1 green, 2 blue */
export const tissueSample = (pixel: number, sample: number) => tissueSamples[pixel * 3 + sample] as number;
export const tissue = pictureOf((pixel) => [
  tissueSample(pixel, 0),
  tissueSample(pixel, 1),
  tissueSample(pixel, 2),
]);

export const imageSize = { width: WIDTH, height: HEIGHT };
/** The tissue as a TIFF in RGB. */
export const rgbPlan: SamplesPlan = {
  ...imageSize,
  samples: tissueSamples,
  samplesPerPixel: 3,
  photometric: 2, // RGB
};
/** Returns the sample of a pixel of `greyPlan(bits)`. 7919 is odd, so the samples are spread irregularly over the values. */
const greySample = (pixel: number, bits: number) => (pixel * 7919) % 2 ** bits;
/** Returns a plan of grey samples that are spread over all values of this number of bits. */
export const greyPlan = (bits: 1 | 2 | 4 | 8 | 16): SamplesPlan => ({
  ...imageSize,
  samples: Array.from({ length: WIDTH * HEIGHT }, (_, pixel) => greySample(pixel, bits)),
  samplesPerPixel: 1,
  photometric: 1, // grey, 0 is black
  bits,
});
/** Returns a function that returns the expected grey, 0…255, of a pixel of `greyPlan(bits)`. */
export const expectedGrey = (bits: number) => (pixel: number) => {
  const value = greySample(pixel, bits);
  // Of 16-bit samples, Lamina shows the high byte.
  return bits === 16 ? value >> 8 : (value * 255) / (2 ** bits - 1);
};
