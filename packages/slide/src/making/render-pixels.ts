import { cropRaster, type Raster } from '../decode/raster.ts';
import { describeDeepZoom, makingSource, type Region, sizeOfLevel } from '../deep-zoom.ts';
import { type Slide, SlideError } from '../slide.ts';
import { BoxAverager } from './box-averager.ts';
import { renderRegion } from './render-region.ts';

/** Up to this reduction pixels come from the file's own tiles: 8 is the most that JPEG is decoded smaller. */
const MOST_DIRECT = 8;
/** Pixels. An overview takes 12 MB at most, and is kept as long as its slide is open. */
const OVERVIEW_SIDE = 2048;
/** Pixels of the file that are rendered at once into an overview, or a row of its tiles, if that is more. */
const BAND_PIXELS = 2 ** 24;
/** How long one caller works on an overview: a third of what a making process is given for a job. */
const CALL_MS = 5000;

/**
 * Pixels of a rectangle of a Deep Zoom level.
 *
 * Where the smallest level of the file is still much larger, they come from an overview of the slide that is made
 * once: else each of the smallest Deep Zoom levels would read the whole file again.
 *
 * @throws SlideError BUSY when the overview needs another call, or several: what this one did is kept; and what
 *   reading and decoding throw
 */
export async function renderPixels(slide: Slide, region: Region, signal?: AbortSignal): Promise<Raster> {
  const { perPixelX, perPixelY } = makingSource(slide, region.dziLevel);
  const isNear = Math.max(perPixelX, perPixelY) <= MOST_DIRECT;
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

/** Pixels of an overview side by side that stand for equally much of the slide. */
interface Run {
  readonly from: number;
  readonly count: number;
  /** Of what a pixel inside the overview stands for, above 0 and at most 1. */
  readonly share: number;
}

/** @param side of the overview, before it was rounded up: its last pixel may stand for less than the others */
function runsOf(from: number, count: number, side: number): readonly Run[] {
  const last = Math.ceil(side) - 1;
  const inside = Math.min(count, last - from);
  const runs = [
    { from, count: inside, share: 1 },
    { from: last, count: from + count > last ? 1 : 0, share: side - last },
  ];
  return runs.filter((run) => run.count > 0);
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

/** A slide made small, from the top downwards. */
interface Overview {
  readonly dziLevel: number;
  readonly raster: Raster;
  doneRows: number;
  /** What is being rendered now, for whoever waits for it. */
  working: Promise<void> | null;
}

const overviews = new WeakMap<Slide, Overview>();

async function overviewOf(slide: Slide, dziLevel: number, signal?: AbortSignal): Promise<Raster> {
  const overview = overviews.get(slide) ?? beginOverview(slide, dziLevel);
  overviews.set(slide, overview);
  const bandRows = bandRowsOf(slide, dziLevel);
  const endAt = performance.now() + CALL_MS;
  while (overview.doneRows < overview.raster.height) {
    signal?.throwIfAborted();
    if (performance.now() > endAt) {
      throw new SlideError('BUSY', 'The overview of this slide is still being made');
    }
    const others = overview.working;
    overview.working ??= renderBand(slide, overview, bandRows, signal).finally(() => {
      overview.working = null;
    });
    try {
      await overview.working;
    } catch (error) {
      // Whoever began it may have given up; this caller has not, and meets the same error if it was none of that.
      if (!others) throw error;
    }
  }
  return overview.raster;
}

function beginOverview(slide: Slide, dziLevel: number): Overview {
  const { width, height } = sizeOfLevel(describeDeepZoom(slide), dziLevel);
  const rgb = new Uint8Array(width * height * 3);
  return { dziLevel, raster: { width, height, rgb }, doneRows: 0, working: null };
}

/** How many rows of an overview are rendered at once: those under whole tiles. */
function bandRowsOf(slide: Slide, dziLevel: number): number {
  const { level, perPixelY } = makingSource(slide, dziLevel);
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
