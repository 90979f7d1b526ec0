import { cropRaster, type Raster } from '../decode/raster.ts';
import { describeDeepZoom, type Region, renderSourceLevel, sizeOfLevel } from '../deep-zoom/deep-zoom.ts';
import { type Slide, SlideError } from '../model/slide.ts';
import { BoxAverager } from './box-averager.ts';
import { renderRegion } from './render-region.ts';

/**
 * Up to this reduction pixels come from the file's own tiles. 8 is the largest reduction of the JPEG decoder.
 */
const MAX_DIRECT_REDUCTION = 8;
/** Pixels. An overview takes at most 12 MB and is cached while its slide is open. */
const OVERVIEW_SIDE = 2048;
/** Pixels of the file that are rendered into an overview at once; at least one row of tiles. */
const BAND_PIXELS = 2 ** 24;
/** Time that one call works on an overview: a third of the time limit of a render job. */
const CALL_MS = 5000;

/**
 * Renders a rectangle of a Deep Zoom level.
 *
 * Where the file's smallest level is still much larger, the pixels come from an overview of the slide that is
 * rendered once. Otherwise each of the smallest Deep Zoom levels would read the whole file again.
 *
 * @throws SlideError BUSY when the overview needs further calls, which continue where this one stopped;
 * errors of reading and decoding
 */
export async function renderPixels(slide: Slide, region: Region, signal?: AbortSignal): Promise<Raster> {
  const { perPixelX, perPixelY } = renderSourceLevel(slide, region.dziLevel);
  const isNear = Math.max(perPixelX, perPixelY) <= MAX_DIRECT_REDUCTION;
  const overviewLevel = isNear ? null : overviewLevelOf(slide);
  if (overviewLevel === null || region.dziLevel > overviewLevel) return renderRegion(slide, region, signal);

  const overview = await overviewOf(slide, overviewLevel, signal);
  const perPixel = 2 ** (overviewLevel - region.dziLevel);
  const { width, height, maxLevel } = describeDeepZoom(slide);
  const reduction = 2 ** (maxLevel - overviewLevel);
  const averager = new BoxAverager(region.width, region.height);
  for (const down of runsOf(region.y * perPixel, region.height * perPixel, height / reduction)) {
    for (const along of runsOf(region.x * perPixel, region.width * perPixel, width / reduction)) {
      const piece = cropRaster(overview, along.from, down.from, along.count, down.count);
      const [x, y] = [along.from / perPixel - region.x, down.from / perPixel - region.y];
      averager.add(piece, x, y, along.share / perPixel, down.share / perPixel);
    }
  }
  return averager.finish(slide.background);
}

/** A run of overview pixels that each represent the same extent of the slide. */
interface Run {
  readonly from: number;
  readonly count: number;
  /** Extent of one pixel relative to a pixel inside the overview, above 0 and at most 1. */
  readonly share: number;
}

/**
 * @param side exact side of the overview; since it is rounded up, the last pixel may represent less than the
 * others
 */
function runsOf(from: number, count: number, side: number): readonly Run[] {
  const last = Math.ceil(side) - 1;
  const inside = Math.min(count, last - from);
  const runs = [
    { from, count: inside, share: 1 },
    { from: last, count: from + count > last ? 1 : 0, share: side - last },
  ];
  return runs.filter((run) => run.count > 0);
}

/**
 * Finds the largest Deep Zoom level that is small enough to cache and far enough from the file's levels to
 * pay off.
 */
function overviewLevelOf(slide: Slide): number | null {
  const descriptor = describeDeepZoom(slide);
  for (let dziLevel = descriptor.maxLevel; dziLevel >= 0; dziLevel--) {
    const { width, height } = sizeOfLevel(descriptor, dziLevel);
    const { perPixelX, perPixelY } = renderSourceLevel(slide, dziLevel);
    const isFar = Math.min(perPixelX, perPixelY) >= MAX_DIRECT_REDUCTION;
    if (isFar && Math.max(width, height) <= OVERVIEW_SIDE) return dziLevel;
  }
  return null;
}

/** An overview of the slide, rendered from the top downwards. */
interface Overview {
  readonly dziLevel: number;
  readonly raster: Raster;
  doneRows: number;
  /** The rendering in progress, shared by all callers that wait for it. */
  working: Promise<void> | null;
}

const overviews = new WeakMap<Slide, Overview>();

async function overviewOf(slide: Slide, dziLevel: number, signal?: AbortSignal): Promise<Raster> {
  const overview = overviews.get(slide) ?? createOverview(slide, dziLevel);
  overviews.set(slide, overview);
  const bandRows = bandRowsOf(slide, dziLevel);
  const endAt = performance.now() + CALL_MS;
  while (overview.doneRows < overview.raster.height) {
    signal?.throwIfAborted();
    if (performance.now() > endAt) {
      throw new SlideError('BUSY', 'The overview of this slide is still being rendered');
    }
    const othersWork = overview.working;
    overview.working ??= renderBand(slide, overview, bandRows, signal).finally(() => {
      overview.working = null;
    });
    try {
      await overview.working;
    } catch (error) {
      // Another caller started this rendering and may have aborted it. This caller retries and meets any real
      // error itself.
      if (!othersWork) throw error;
    }
  }
  return overview.raster;
}

function createOverview(slide: Slide, dziLevel: number): Overview {
  const { width, height } = sizeOfLevel(describeDeepZoom(slide), dziLevel);
  const rgb = new Uint8Array(width * height * 3);
  return { dziLevel, raster: { width, height, rgb }, doneRows: 0, working: null };
}

/** Number of overview rows that are rendered at once; they correspond to whole tiles of the file. */
function bandRowsOf(slide: Slide, dziLevel: number): number {
  const { level, perPixelY } = renderSourceLevel(slide, dziLevel);
  const { width, tileHeight } = slide.levels[level] ?? slide.levels[0];
  const tileRows = Math.max(1, Math.round(tileHeight / perPixelY));
  const tiles = Math.max(1, Math.floor(BAND_PIXELS / (width * perPixelY * tileRows)));
  return tiles * tileRows;
}

async function renderBand(
  slide: Slide,
  overview: Overview,
  bandRows: number,
  signal?: AbortSignal,
): Promise<void> {
  const { dziLevel, raster, doneRows } = overview;
  const height = Math.min(bandRows, raster.height - doneRows);
  const band = { dziLevel, x: 0, y: doneRows, width: raster.width, height };
  raster.rgb.set((await renderRegion(slide, band, signal)).rgb, doneRows * raster.width * 3);
  overview.doneRows = doneRows + height;
}
