import { encodeJpeg } from '../decode/encode-jpeg.ts';
import type { Raster } from '../decode/raster.ts';
import { describeDeepZoom, sizeOfLevel } from '../deep-zoom/deep-zoom.ts';
import type { Slide } from '../model/slide.ts';
import { BoxAverager } from './box-averager.ts';
import { renderPixels } from './render-pixels.ts';
import { convertColour } from './render-tile.ts';

/**
 * Renders the whole slide as a JPEG, in sRGB where the slide has a usable colour profile.
 *
 * @param maxSide longest side in pixels; a smaller slide is not enlarged
 * @returns a complete JPEG
 * @throws SlideError errors of reading and decoding
 */
export async function renderThumbnail(
  slide: Slide,
  maxSide: number,
  signal?: AbortSignal,
): Promise<Uint8Array> {
  return encodeJpeg(await convertColour(slide, await thumbnailPixels(slide, maxSide, signal), 'srgb'));
}

/**
 * Returns the pixels of a thumbnail in the colours of the scan. They come from the levels of the slide, never from an
 * associated image (an extra photograph in the file), which may show the label with the patient's name.
 *
 * @param maxSide longest side in pixels; a smaller slide is not enlarged
 * @throws SlideError errors of reading and decoding
 */
export async function thumbnailPixels(slide: Slide, maxSide: number, signal?: AbortSignal): Promise<Raster> {
  const descriptor = describeDeepZoom(slide);
  const reduction = Math.max(1, Math.max(descriptor.width, descriptor.height) / maxSide);
  const dziLevel = descriptor.maxLevel - Math.floor(Math.log2(reduction)); // the smallest level that need not be enlarged
  const wholeSlide = { dziLevel, x: 0, y: 0, ...sizeOfLevel(descriptor, dziLevel) };
  const raster = await renderPixels(slide, wholeSlide, signal);

  const width = Math.max(1, Math.round(descriptor.width / reduction));
  const height = Math.max(1, Math.round(descriptor.height / reduction));
  const averager = new BoxAverager(width, height);
  averager.add(raster, 0, 0, width / raster.width, height / raster.height);
  return averager.finish(slide.background);
}
