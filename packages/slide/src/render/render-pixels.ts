/**
 * Renders the pixels of tiles, thumbnails and views: from the tiles of the file, or from a cached overview of the slide.
 *
 * Deep Zoom level `maxLevel` has full resolution; each level below it has half the width and height of the next one.
 */
import { cropRaster, type Raster } from '../decode/raster.ts';
import { describeDeepZoom, type Region, renderSourceLevel, sizeOfLevel } from '../deep-zoom/deep-zoom.ts';
import { type Slide, SlideError } from '../model/slide.ts';
import { BoxAverager } from './box-averager.ts';
import { renderRegion } from './render-region.ts';

/** Up to this reduction, pixels come directly from the file's tiles. 8 is the largest reduction of the JPEG decoder. */
const MAX_DIRECT_REDUCTION = 8;
/** Longest side of an overview in pixels. An overview takes at most 12 MB and is cached while its slide is open. */
const MAX_OVERVIEW_SIDE = 2048;
/** Maximum pixels of the file that are rendered into an overview at once; a row of tiles with more pixels is not divided. */
const BAND_PIXELS = 2 ** 24;
/** Longest time for which one call renders an overview: a third of the time limit of a render job. */
const MAX_CALL_MS = 5000;

/**
 * Renders a rectangle of a Deep Zoom level.
 *
 * The source is the smallest level of the file that is at least as large as the Deep Zoom level. If the source is more than
 * 8 times as large, the pixels come from an overview: a small copy of the whole slide, rendered once. Without it, every small
 * Deep Zoom level would require reading all tiles of the source again. A Deep Zoom level that is larger than the overview is
 * rendered from the tiles.
 *
 * @throws SlideError BUSY when the overview is not complete after 5 s; the next call continues it. Errors of reading and decoding
 */
export async function renderPixels(slide: Slide, region: Region, signal?: AbortSignal): Promise<Raster> {
  const { reductionX, reductionY } = renderSourceLevel(slide, region.dziLevel);
  const isDirect = Math.max(reductionX, reductionY) <= MAX_DIRECT_REDUCTION;
  const overviewLevel = isDirect ? null : overviewLevelOf(slide);
  if (overviewLevel === null || region.dziLevel > overviewLevel) return renderRegion(slide, region, signal);

  const overview = await completeOverview(slide, overviewLevel, signal);
  /** Overview pixels per pixel of the region, in each direction. */
  const reduction = 2 ** (overviewLevel - region.dziLevel);
  const { width, height, maxLevel } = describeDeepZoom(slide);
  /** Full-resolution pixels per overview pixel. */
  const overviewDownsample = 2 ** (maxLevel - overviewLevel);
  const averager = new BoxAverager(region.width, region.height);
  const rowRuns = splitIntoRuns(region.y * reduction, region.height * reduction, height / overviewDownsample);
  const columnRuns = splitIntoRuns(
    region.x * reduction,
    region.width * reduction,
    width / overviewDownsample,
  );
  for (const rows of rowRuns) {
    for (const columns of columnRuns) {
      const piece = cropRaster(overview, columns.start, rows.start, columns.count, rows.count);
      // Position of the piece and size of one of its pixels, in pixels of the region. Both may be fractional.
      const [x, y] = [columns.start / reduction - region.x, rows.start / reduction - region.y];
      const [pixelWidth, pixelHeight] = [columns.share / reduction, rows.share / reduction];
      averager.add(piece, x, y, pixelWidth, pixelHeight);
    }
  }
  return averager.finish(slide.background);
}

/** Consecutive overview pixels along one axis, each of which covers the same extent of the slide. */
interface Run {
  /** Index of the first pixel. */
  readonly start: number;
  readonly count: number;
  /** Extent that one pixel covers, relative to a whole pixel: above 0 and at most 1. */
  readonly share: number;
}

/**
 * Splits a range of overview pixels into runs: the whole pixels, and the last pixel of the overview. The last pixel covers
 * less than the others, because the size of the overview is rounded up.
 *
 * @param exactSide side of the overview before rounding
 */
function splitIntoRuns(start: number, count: number, exactSide: number): readonly Run[] {
  const last = Math.ceil(exactSide) - 1;
  const wholeCount = Math.min(count, last - start);
  const runs = [
    { start, count: wholeCount, share: 1 },
    { start: last, count: start + count > last ? 1 : 0, share: exactSide - last },
  ];
  return runs.filter((run) => run.count > 0);
}

/**
 * Returns the largest Deep Zoom level that fits `MAX_OVERVIEW_SIDE`, and whose source level in the file is at least 8 times as
 * large; null when there is none.
 */
function overviewLevelOf(slide: Slide): number | null {
  const descriptor = describeDeepZoom(slide);
  for (let dziLevel = descriptor.maxLevel; dziLevel >= 0; dziLevel--) {
    const { width, height } = sizeOfLevel(descriptor, dziLevel);
    const { reductionX, reductionY } = renderSourceLevel(slide, dziLevel);
    const isMuchSmaller = Math.min(reductionX, reductionY) >= MAX_DIRECT_REDUCTION;
    if (isMuchSmaller && Math.max(width, height) <= MAX_OVERVIEW_SIDE) return dziLevel;
  }
  return null;
}

/** An overview of the slide, rendered from the top downwards. */
interface Overview {
  readonly dziLevel: number;
  readonly raster: Raster;
  /** Number of rows that are rendered so far, from the top. */
  renderedRows: number;
  /** The rendering of a band in progress, shared by all callers that wait for it; null when there is none. */
  rendering: Promise<void> | null;
}

const overviews = new WeakMap<Slide, Overview>();

/** Renders the missing rows of the overview and returns it. @throws SlideError BUSY after 5 s; errors of reading and decoding */
async function completeOverview(slide: Slide, dziLevel: number, signal?: AbortSignal): Promise<Raster> {
  const overview = overviews.get(slide) ?? createOverview(slide, dziLevel);
  overviews.set(slide, overview);
  const bandRows = bandRowsOf(slide, dziLevel);
  const deadline = performance.now() + MAX_CALL_MS;
  while (overview.renderedRows < overview.raster.height) {
    signal?.throwIfAborted();
    if (performance.now() > deadline) {
      throw new SlideError('BUSY', 'The overview of this slide is still being rendered');
    }
    const renderingOfOtherCaller = overview.rendering;
    overview.rendering ??= renderBand(slide, overview, bandRows, signal).finally(() => {
      overview.rendering = null;
    });
    try {
      await overview.rendering;
    } catch (error) {
      // If another caller started this rendering, that caller may have aborted it. The loop then renders the band again
      // for this caller, and throws the error if the second rendering fails too.
      if (!renderingOfOtherCaller) throw error;
    }
  }
  return overview.raster;
}

function createOverview(slide: Slide, dziLevel: number): Overview {
  const { width, height } = sizeOfLevel(describeDeepZoom(slide), dziLevel);
  const rgb = new Uint8Array(width * height * 3);
  return { dziLevel, raster: { width, height, rgb }, renderedRows: 0, rendering: null };
}

/** Returns the number of overview rows that are rendered at once; they correspond to whole rows of tiles of the file. */
function bandRowsOf(slide: Slide, dziLevel: number): number {
  const { level, reductionY } = renderSourceLevel(slide, dziLevel);
  const { width, tileHeight } = slide.levels[level] ?? slide.levels[0];
  const overviewRowsPerTile = Math.max(1, Math.round(tileHeight / reductionY));
  const sourcePixelsPerTileRow = width * reductionY * overviewRowsPerTile;
  const tileRows = Math.max(1, Math.floor(BAND_PIXELS / sourcePixelsPerTileRow));
  return tileRows * overviewRowsPerTile;
}

async function renderBand(
  slide: Slide,
  overview: Overview,
  bandRows: number,
  signal?: AbortSignal,
): Promise<void> {
  const { dziLevel, raster, renderedRows } = overview;
  const height = Math.min(bandRows, raster.height - renderedRows);
  const band = { dziLevel, x: 0, y: renderedRows, width: raster.width, height };
  raster.rgb.set((await renderRegion(slide, band, signal)).rgb, renderedRows * raster.width * 3);
  overview.renderedRows = renderedRows + height;
}
