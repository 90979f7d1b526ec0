import sharp from 'sharp';
import { cropRaster, type Raster } from '../decode/raster.ts';

/** Decodes a JPEG from its own bytes alone, without the metadata of the slide, as a browser does. */
export async function pixelsOf(jpeg: Uint8Array): Promise<Raster> {
  const picture = sharp(jpeg, { failOn: 'warning' }).toColourspace('srgb').raw();
  const { data, info } = await picture.toBuffer({ resolveWithObject: true });
  return { width: info.width, height: info.height, rgb: data };
}

/** Returns the mean and the largest (`max`) difference, 0…255, of the samples of two images of equal size. */
export function difference(one: Raster, other: Raster): { mean: number; max: number } {
  if (one.width !== other.width || one.height !== other.height) {
    throw new Error(`${one.width} × ${one.height} is not ${other.width} × ${other.height}`);
  }
  let sum = 0;
  let max = 0;
  for (let i = 0; i < one.rgb.length; i++) {
    const sampleDifference = Math.abs((one.rgb[i] as number) - (other.rgb[i] as number));
    sum += sampleDifference;
    max = Math.max(max, sampleDifference);
  }
  return { mean: sum / one.rgb.length, max };
}

/**
 * Reduces a rectangle of an image by a box filter: each pixel of the result is the mean of the pixels that it covers.
 * Rendered tiles are compared with the result.
 *
 * @param downsample pixels of the image per pixel of the result, in both directions
 * @param rectangle position and size in pixels of the reduced image, not of `picture`
 */
export function boxFilter(
  picture: Raster,
  downsample: number,
  { x, y, width, height }: { x: number; y: number; width: number; height: number },
): Raster {
  const rgb = new Uint8Array(width * height * 3);
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) {
      const left = (x + column) * downsample;
      const top = (y + row) * downsample;
      const right = Math.min(left + downsample, picture.width);
      const bottom = Math.min(top + downsample, picture.height);
      const area = cropRaster(picture, left, top, right - left, bottom - top).rgb;
      for (let sample = 0; sample < 3; sample++) {
        let sum = 0;
        for (let at = sample; at < area.length; at += 3) sum += area[at] as number;
        rgb[(row * width + column) * 3 + sample] = Math.round(sum / (area.length / 3));
      }
    }
  }
  return { width, height, rgb };
}

/** Maximum mean difference, 0…255, between the samples of an image and of the JPEG that test builders encode from it. */
export const MAX_JPEG_DIFFERENCE = 6;
