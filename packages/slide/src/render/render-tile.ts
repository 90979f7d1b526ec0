import { applyColourTable } from '../colour/colour-table.ts';
import { colourTableOf } from '../colour/slide-colour.ts';
import { encodeJpeg } from '../decode/encode-jpeg.ts';
import type { Raster } from '../decode/raster.ts';
import { type DeepZoomAddress, describeDeepZoom, regionOfTile } from '../deep-zoom/deep-zoom.ts';
import type { Slide } from '../model/slide.ts';
import { renderPixels } from './render-pixels.ts';

/** Colours of a tile: as scanned, or converted to sRGB where the slide has a usable profile. */
export type TileColour = 'scanned' | 'srgb';

/**
 * Renders a Deep Zoom tile: decodes the file's tiles under it, reduces them with a box filter, and encodes the result.
 *
 * @returns a complete JPEG
 * @throws SlideError TILE_OUT_OF_RANGE; errors of reading and decoding
 */
export async function renderTile(
  slide: Slide,
  address: DeepZoomAddress,
  signal?: AbortSignal,
  colour: TileColour = 'scanned',
): Promise<Uint8Array> {
  const region = regionOfTile(describeDeepZoom(slide), address);
  return encodeJpeg(await convertColour(slide, await renderPixels(slide, region, signal), colour));
}

/**
 * Converts pixels to the requested colours. Returns a copy if the colours change, because the given pixels may belong to a cache.
 */
export async function convertColour(slide: Slide, raster: Raster, colour: TileColour): Promise<Raster> {
  const table = colour === 'srgb' ? await colourTableOf(slide) : null;
  if (table === null) return raster;
  const converted = { ...raster, rgb: raster.rgb.slice() };
  applyColourTable(table, converted);
  return converted;
}
