/**
 * Made tiles of every real file that is shown, whatever its format, against a box filter of the level they come from:
 * the mean over the tiles in the middle at a half, a quarter and an eighth. The pixels of that level are OpenSlide's or
 * libvips', where one is installed and reads them, else those that our own reader finds.
 */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { describeDeepZoom, makingSource, regionOfTile, sizeOfLevel } from '../deep-zoom.ts';
import { makeTile } from '../making/make-tile.ts';
import { renderPixels } from '../making/render-pixels.ts';
import { openSlide } from '../open-slide.ts';
import { type Slide, SlideError } from '../slide.ts';
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
const mostMean = 2;

/** An overview is made in several goes: who is told to come back does. */
async function made<T>(work: () => Promise<T>): Promise<T> {
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

/** Another program's view of a file, and the levels that it shows as we do. */
interface OtherView {
  readonly slide: PeerSlide;
  readonly levels: number;
}

async function othersOf(name: string): Promise<readonly OtherView[]> {
  const views: OtherView[] = [];
  for (const [peer, read] of peers) {
    const exception = read[name];
    if (!peer || exception === undefined || exception?.most !== undefined) continue;
    const slide = await peer(join(slides, name));
    if (slide) views.push({ slide, levels: exception?.levels ?? Number.POSITIVE_INFINITY });
  }
  return views;
}

/** Pixels of a level of the file as another program reads them; null where none does. */
async function byOthers(others: readonly OtherView[], slide: Slide, index: number, place: Place) {
  const level = slide.levels[index] ?? slide.levels[0];
  if (place.x + place.width > level.width || place.y + place.height > level.height) return null;
  for (const other of others) {
    const same = index < other.levels ? levelLike(other.slide, level) : null;
    if (same !== null) return other.slide.read(same, place, slide.background);
  }
  return null;
}

/** The mean difference of the tile in the middle; null where the file has that level, or nothing to reduce it from. */
async function meanOff(slide: Slide, dziLevel: number, others: readonly OtherView[]): Promise<number | null> {
  const descriptor = describeDeepZoom(slide);
  const { level, perPixelX, perPixelY } = makingSource(slide, dziLevel);
  const isReduced = perPixelX === perPixelY && reductions.includes(perPixelX);
  const { width, height } = sizeOfLevel(descriptor, dziLevel);
  // In a few pixels the blocks of JPEG are all there is.
  if (!isReduced || Math.min(width, height) < 16) return null;
  const middle = (pixels: number) => Math.floor((Math.ceil(pixels / descriptor.tileSize) - 1) / 2);
  const address = { dziLevel, column: middle(width), row: middle(height) };
  const region = regionOfTile(descriptor, address);
  const base = sizeOfLevel(descriptor, dziLevel + Math.log2(perPixelX));
  const [x, y] = [region.x * perPixelX, region.y * perPixelX];
  const [wide, high] = [region.width * perPixelX, region.height * perPixelX];
  const place = { x, y, width: Math.min(wide, base.width - x), height: Math.min(high, base.height - y) };
  const own = () => renderPixels(slide, { dziLevel: dziLevel + Math.log2(perPixelX), ...place });
  const source = (await byOthers(others, slide, level, place)) ?? (await made(own));
  const boxed = boxFilter(source, perPixelX, { x: 0, y: 0, width: region.width, height: region.height });
  return difference(await pixelsOf(await made(() => makeTile(slide, address))), boxed).mean;
}

describe('with TEST_SLIDES, made tiles are within 2/255 of a box filter', () => {
  it.skipIf(slides === '').each(shown)(
    '%s',
    async (name) => {
      const slide = await openSlide({ path: join(slides, name) });
      const others = await othersOf(name);
      const { maxLevel } = describeDeepZoom(slide);
      const means: number[] = [];
      for (const halvings of [1, 2, 3]) {
        const mean = maxLevel >= halvings ? await meanOff(slide, maxLevel - halvings, others) : null;
        if (mean !== null) means.push(mean);
      }
      await Promise.all([slide.close(), ...others.map((other) => other.slide.close())]);
      const sum = means.reduce((one, other) => one + other, 0);
      expect(sum / Math.max(1, means.length)).toBeLessThanOrEqual(mostMean);
    },
    60_000,
  );
});
