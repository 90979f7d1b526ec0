/**
 * Compares rendered tiles of every real file with a box filter of the level from which they are rendered: the middle tile
 * at 1/2, 1/4 and 1/8 of full resolution. The pixels of that level are read by OpenSlide or libvips ("peers") if possible,
 * otherwise by Lamina.
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
  type Rectangle,
} from '../testing/peers.ts';
import { goodSlides } from './good-slides.ts';
import { type KnownDifference, readByLibvips, readByOpenSlide } from './peer-readings.ts';

const slides = process.env.TEST_SLIDES ?? '';
/** Outcomes are formats in lower case, or error codes in upper case. */
const validFiles = goodSlides.flatMap(([name, outcome]) => (/[A-Z]/.test(outcome) ? [] : [name]));
const reductions = [2, 4, 8];
/** Maximum mean difference of a sample, of 255. */
const MAX_MEAN_DIFFERENCE = 2;

/** Retries after BUSY: rendering a small level of a large slide takes several calls, each of which makes progress. */
async function retryWhileBusy<T>(render: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await render();
    } catch (error) {
      if (!(error instanceof SlideError && error.code === 'BUSY')) throw error;
    }
  }
}

const peers: readonly [Peer | null, Readonly<Record<string, KnownDifference | null>>][] = [
  [await openSlidePeer(), readByOpenSlide],
  [await libvipsPeer(), readByLibvips],
];

/** A file opened by a peer. */
interface PeerView {
  readonly slide: PeerSlide;
  /** How many levels, from the largest on, the peer reads with the same pixels as Lamina. */
  readonly levels: number;
}

async function openPeerViews(name: string): Promise<readonly PeerView[]> {
  const views: PeerView[] = [];
  for (const [peer, readableFiles] of peers) {
    const knownDifference = readableFiles[name];
    if (!peer || knownDifference === undefined || knownDifference?.maxDifference !== undefined) continue;
    const slide = await peer(join(slides, name));
    if (slide) views.push({ slide, levels: knownDifference?.levels ?? Number.POSITIVE_INFINITY });
  }
  return views;
}

/** Returns a rectangle of a level as a peer reads it; null when no peer does. */
async function readByPeers(
  peerViews: readonly PeerView[],
  slide: Slide,
  index: number,
  rectangle: Rectangle,
) {
  const level = slide.levels[index] ?? slide.levels[0];
  const isInside =
    rectangle.x + rectangle.width <= level.width && rectangle.y + rectangle.height <= level.height;
  if (!isInside) return null;
  for (const view of peerViews) {
    const peerLevel = index < view.levels ? levelLike(view.slide, level) : null;
    if (peerLevel !== null) return view.slide.read(peerLevel, rectangle, slide.background);
  }
  return null;
}

/**
 * Returns the mean difference between the middle tile of a Deep Zoom level and a box filter of the level from which it is
 * rendered. Null when the file stores the level itself, or no level that is larger by a factor of 2, 4 or 8.
 */
async function meanDifference(
  slide: Slide,
  dziLevel: number,
  peerViews: readonly PeerView[],
): Promise<number | null> {
  const descriptor = describeDeepZoom(slide);
  const { level, reductionX: reduction, reductionY } = renderSourceLevel(slide, dziLevel);
  const isReduced = reduction === reductionY && reductions.includes(reduction);
  const { width, height } = sizeOfLevel(descriptor, dziLevel);
  // A level with a side of fewer than 16 pixels would differ because of JPEG artefacts.
  if (!isReduced || Math.min(width, height) < 16) return null;
  const middle = (pixels: number) => Math.floor((Math.ceil(pixels / descriptor.tileSize) - 1) / 2);
  const address = { dziLevel, column: middle(width), row: middle(height) };
  const region = regionOfTile(descriptor, address);
  const sourceDziLevel = dziLevel + Math.log2(reduction);
  const sourceSize = sizeOfLevel(descriptor, sourceDziLevel);
  const x = region.x * reduction;
  const y = region.y * reduction;
  const rectangle = {
    x,
    y,
    width: Math.min(region.width * reduction, sourceSize.width - x),
    height: Math.min(region.height * reduction, sourceSize.height - y),
  };
  const readByLamina = () => renderPixels(slide, { dziLevel: sourceDziLevel, ...rectangle });
  const source =
    (await readByPeers(peerViews, slide, level, rectangle)) ?? (await retryWhileBusy(readByLamina));
  const expected = boxFilter(source, reduction, { x: 0, y: 0, width: region.width, height: region.height });
  const tile = await retryWhileBusy(() => renderTile(slide, address));
  return difference(await pixelsOf(tile), expected).mean;
}

describe('renderTile (renders a Deep Zoom tile) with a real slide', () => {
  it.skipIf(slides === '').each(validFiles)(
    'returns reduced tiles of %s whose pixels differ from box-filtered full-resolution pixels by at most 2 of 255 on average',
    async (name) => {
      const slide = await openSlide({ path: join(slides, name) });
      const peerViews = await openPeerViews(name);
      const { maxLevel } = describeDeepZoom(slide);
      const differences: number[] = [];
      for (const dziLevel of [maxLevel - 1, maxLevel - 2, maxLevel - 3]) {
        const mean = dziLevel >= 0 ? await meanDifference(slide, dziLevel, peerViews) : null;
        if (mean !== null) differences.push(mean);
      }
      await Promise.all([slide.close(), ...peerViews.map((view) => view.slide.close())]);
      const sum = differences.reduce((a, b) => a + b, 0);
      expect(sum / Math.max(1, differences.length)).toBeLessThanOrEqual(MAX_MEAN_DIFFERENCE);
    },
    60_000,
  );
});
