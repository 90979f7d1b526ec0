import { cropRaster, type Raster } from '../decode/raster.ts';
import { describeDeepZoom, makingSource, type Region, sizeOfLevel } from '../deep-zoom.ts';
import type { Slide } from '../slide.ts';
import { BoxAverager } from './box-averager.ts';
import { renderRegion } from './render-region.ts';

/** Up to this reduction pixels come from the file's own tiles: 8 is the most that JPEG is decoded smaller. */
const MOST_DIRECT = 8;
/** Pixels. An overview takes 12 MB at most, and is kept as long as its slide is open. */
const OVERVIEW_SIDE = 2048;
/** Rows of an overview that are rendered at once. */
const OVERVIEW_BAND = 256;

/**
 * Pixels of a rectangle of a Deep Zoom level.
 *
 * Where the smallest level of the file is still much larger, they come from an overview of the slide that is made
 * once: else each of the smallest Deep Zoom levels would read the whole file again.
 *
 * @throws SlideError what reading and decoding throw
 */
export async function renderPixels(slide: Slide, region: Region, signal?: AbortSignal): Promise<Raster> {
  const { perPixelX, perPixelY } = makingSource(slide, region.dziLevel);
  const isNear = Math.max(perPixelX, perPixelY) <= MOST_DIRECT;
  const overviewLevel = isNear ? null : overviewLevelOf(slide);
  if (overviewLevel === null || region.dziLevel > overviewLevel) return renderRegion(slide, region, signal);

  const overview = await overviewOf(slide, overviewLevel, signal);
  const perPixel = 2 ** (overviewLevel - region.dziLevel);
  const [x, y] = [region.x * perPixel, region.y * perPixel];
  const width = Math.min(region.width * perPixel, overview.width - x);
  const height = Math.min(region.height * perPixel, overview.height - y);
  const averager = new BoxAverager(region.width, region.height);
  averager.add(cropRaster(overview, x, y, width, height), 0, 0, 1 / perPixel, 1 / perPixel);
  return averager.finish(slide.background);
}

/** The largest Deep Zoom level that is small enough to keep and far enough from the file's levels to be worth it. */
function overviewLevelOf(slide: Slide): number | null {
  const descriptor = describeDeepZoom(slide);
  for (let dziLevel = descriptor.maxLevel; dziLevel >= 0; dziLevel--) {
    const { width, height } = sizeOfLevel(descriptor, dziLevel);
    const { perPixelX, perPixelY } = makingSource(slide, dziLevel);
    const isFar = Math.min(perPixelX, perPixelY) >= MOST_DIRECT;
    if (isFar && Math.max(width, height) <= OVERVIEW_SIDE) return dziLevel;
  }
  return null;
}

const overviews = new WeakMap<Slide, Promise<Raster>>();

async function overviewOf(slide: Slide, dziLevel: number, signal?: AbortSignal): Promise<Raster> {
  const known = overviews.get(slide);
  if (known) {
    try {
      return await known;
    } catch {
      // Whoever began it may have given up; this caller has not, and meets the same error if it was none of that.
      signal?.throwIfAborted();
    }
  }
  const overview = renderOverview(slide, dziLevel, signal);
  overviews.set(slide, overview);
  return overview;
}

async function renderOverview(slide: Slide, dziLevel: number, signal?: AbortSignal): Promise<Raster> {
  const { width, height } = sizeOfLevel(describeDeepZoom(slide), dziLevel);
  const rgb = new Uint8Array(width * height * 3);
  for (let y = 0; y < height; y += OVERVIEW_BAND) {
    const band = { dziLevel, x: 0, y, width, height: Math.min(OVERVIEW_BAND, height - y) };
    rgb.set((await renderRegion(slide, band, signal)).rgb, y * width * 3);
  }
  return { width, height, rgb };
}
