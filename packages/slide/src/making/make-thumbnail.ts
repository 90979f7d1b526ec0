import { encodeJpeg } from '../decode/encode-jpeg.ts';
import { describeDeepZoom, sizeOfLevel } from '../deep-zoom.ts';
import type { Slide } from '../slide.ts';
import { BoxAverager } from './box-averager.ts';
import { renderPixels } from './render-pixels.ts';

/**
 * Make a picture of the whole slide, from its levels and never from a picture stored beside them, which may show
 * the label.
 *
 * @param maxSide of the longer side, in pixels; a slide that is smaller stays as it is
 * @returns a complete JPEG
 * @throws SlideError what reading and decoding throw
 */
export async function makeThumbnail(
  slide: Slide,
  maxSide: number,
  signal?: AbortSignal,
): Promise<Uint8Array> {
  const descriptor = describeDeepZoom(slide);
  const reduction = Math.max(1, Math.max(descriptor.width, descriptor.height) / maxSide);
  const dziLevel = descriptor.maxLevel - Math.floor(Math.log2(reduction));
  const whole = { dziLevel, x: 0, y: 0, ...sizeOfLevel(descriptor, dziLevel) };
  const raster = await renderPixels(slide, whole, signal);

  const width = Math.max(1, Math.round(descriptor.width / reduction));
  const height = Math.max(1, Math.round(descriptor.height / reduction));
  const averager = new BoxAverager(width, height);
  averager.add(raster, 0, 0, width / raster.width, height / raster.height);
  return encodeJpeg(averager.finish(slide.background));
}
