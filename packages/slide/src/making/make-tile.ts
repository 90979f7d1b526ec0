import { encodeJpeg } from '../decode/encode-jpeg.ts';
import { type DeepZoomAddress, describeDeepZoom, regionOfTile } from '../deep-zoom.ts';
import type { Slide } from '../slide.ts';
import { renderPixels } from './render-pixels.ts';

/**
 * Make one tile of a slide: decoded, reduced by a box filter, cut to what Deep Zoom promises for the address.
 *
 * @returns a complete JPEG
 * @throws SlideError TILE_OUT_OF_RANGE, and what reading and decoding throw
 */
export async function makeTile(
  slide: Slide,
  address: DeepZoomAddress,
  signal?: AbortSignal,
): Promise<Uint8Array> {
  const region = regionOfTile(describeDeepZoom(slide), address);
  return encodeJpeg(await renderPixels(slide, region, signal));
}
