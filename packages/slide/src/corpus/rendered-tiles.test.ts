/**
 * Compares rendered tiles of every real file with a box filter of the level they come from: the mean
 * difference of the middle tiles at 1/2, 1/4 and 1/8. The level's pixels come from OpenSlide or libvips where
 * one reads them, otherwise from Lamina's own reader.
 */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { describeDeepZoom, regionOfTile, renderSourceLevel, sizeOfLevel } from '../deep-zoom/deep-zoom.ts';
import { type Slide, SlideError } from '../model/slide.ts';
import { openSlide } from '../open-slide.ts';
import { renderPixels } from '../render/render-pixels.ts';
import { renderTile } from '../render/render-tile.ts';
import { boxFilter, difference, pixelsOf } from '../testing/compare-pixels.ts';
import {
  levelLike,
  libvipsPeer,
  openSlidePeer,
  type Peer,
  type PeerSlide,
  type Place,
} from '../testing/peers.ts';
import { goodSlides } from './good-slides.ts';
import { type Exception, readByLibvips, readByOpenSlide } from './peer-readings.ts';

const slides = process.env.TEST_SLIDES ?? '';
const shown = goodSlides.flatMap(([name, outcome]) => (/[A-Z]/.test(outcome) ? [] : [name]));
const reductions = [2, 4, 8];
const maxMean = 2;

/** Retries while the overview of a large slide needs further calls. */
async function retryWhileBusy<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof SlideError && error.code === 'BUSY')) throw error;
    }
  }
}

const peers: readonly [Peer | null, Readonly<Record<string, Exception | null>>][] = [
  [await openSlidePeer(), readByOpenSlide],
  [await libvipsPeer(), readByLibvips],
];

/** A peer's view of a file, and the levels that it shows like Lamina. */
interface PeerView {
  readonly slide: PeerSlide;
  readonly levels: number;
}

async function peerViewsOf(name: string): Promise<readonly PeerView[]> {
  const views: PeerView[] = [];
  for (const [peer, read] of peers) {
    const exception = read[name];
    if (!peer || exception === undefined || exception?.most !== undefined) continue;
    const slide = await peer(join(slides, name));
    if (slide) views.push({ slide, levels: exception?.levels ?? Number.POSITIVE_INFINITY });
  }
  return views;
}

/** Pixels of a level as a peer reads them; null when none does. */
async function readByPeers(peerViews: readonly PeerView[], slide: Slide, index: number, place: Place) {
  const level = slide.levels[index] ?? slide.levels[0];
  if (place.x + place.width > level.width || place.y + place.height > level.height) return null;
  for (const other of peerViews) {
    const same = index < other.levels ? levelLike(other.slide, level) : null;
    if (same !== null) return other.slide.read(same, place, slide.background);
  }
  return null;
}

/**
 * Mean difference of the middle tile; null when the file stores that level, or has none to reduce by 2, 4 or
 * 8.
 */
async function meanDifference(
  slide: Slide,
  dziLevel: number,
  peerViews: readonly PeerView[],
): Promise<number | null> {
  const descriptor = describeDeepZoom(slide);
  const { level, perPixelX, perPixelY } = renderSourceLevel(slide, dziLevel);
  const isReduced = perPixelX === perPixelY && reductions.includes(perPixelX);
  const { width, height } = sizeOfLevel(descriptor, dziLevel);
  // In a tile of a few pixels JPEG artefacts dominate.
  if (!isReduced || Math.min(width, height) < 16) return null;
  const middle = (pixels: number) => Math.floor((Math.ceil(pixels / descriptor.tileSize) - 1) / 2);
  const address = { dziLevel, column: middle(width), row: middle(height) };
  const region = regionOfTile(descriptor, address);
  const base = sizeOfLevel(descriptor, dziLevel + Math.log2(perPixelX));
  const [x, y] = [region.x * perPixelX, region.y * perPixelX];
  const [wide, high] = [region.width * perPixelX, region.height * perPixelX];
  const place = { x, y, width: Math.min(wide, base.width - x), height: Math.min(high, base.height - y) };
  const own = () => renderPixels(slide, { dziLevel: dziLevel + Math.log2(perPixelX), ...place });
  const source = (await readByPeers(peerViews, slide, level, place)) ?? (await retryWhileBusy(own));
  const boxed = boxFilter(source, perPixelX, { x: 0, y: 0, width: region.width, height: region.height });
  return difference(await pixelsOf(await retryWhileBusy(() => renderTile(slide, address))), boxed).mean;
}

describe('rendered tiles of TEST_SLIDES', () => {
  it.skipIf(slides === '').each(shown)(
    'of %s differ from a box filter by at most 2/255 on average',
    async (name) => {
      const slide = await openSlide({ path: join(slides, name) });
      const peerViews = await peerViewsOf(name);
      const { maxLevel } = describeDeepZoom(slide);
      const means: number[] = [];
      for (const halvings of [1, 2, 3]) {
        const mean =
          maxLevel >= halvings ? await meanDifference(slide, maxLevel - halvings, peerViews) : null;
        if (mean !== null) means.push(mean);
      }
      await Promise.all([slide.close(), ...peerViews.map((other) => other.slide.close())]);
      const sum = means.reduce((a, b) => a + b, 0);
      expect(sum / Math.max(1, means.length)).toBeLessThanOrEqual(maxMean);
    },
    60_000,
  );
});
