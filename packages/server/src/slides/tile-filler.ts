/**
 * Makes the tiles of a slide that its file does not have before somebody asks for them: the smallest levels first, one
 * tile at a time, one slide at a time, and only while nobody is looking.
 *
 * It fills what is empty and drives nothing out: it ends where the cache has little room left, and takes of each slide
 * the levels that are small enough together.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { type DeepZoomAddress, SlideError, type TileMaker } from '@lamina/slide';
import type { Logger } from 'pino';
import { type MadeFrom, tileNameIn } from './made-from.ts';
import type { TileCache } from './tile-cache.ts';

export interface TileFiller {
  /** When its turn comes. A slide that was filled, as it is now, is not filled again by this process. */
  fill(from: MadeFrom): void;
  /** Resolves when nothing is left to be filled. */
  settled(): Promise<void>;
  /** Resolves when the one tile that is being made is given up. */
  close(): Promise<void>;
}

interface Plan {
  readonly maker: Pick<TileMaker, 'tileAhead' | 'tilesToMake' | 'isWanted'>;
  readonly cache: Pick<TileCache, 'has' | 'putAside' | 'freeBytes'>;
  /** What the cache may take on the disk; 0: nothing is filled. */
  readonly maxBytes: number;
  readonly log: Logger;
}

/** A slide of 40,000 × 30,000 pixels with levels by four has some 1,900 to make; one without levels, 7,000. */
const mostTiles = 10_000;
/** A slide takes this part of the cache at most, and the last quarter is left to what people look at. */
const slideShare = 1 / 8;
const keptFreeShare = 1 / 4;
/** Slides that wait; of more, the one that has waited longest is left out. */
const mostWaiting = 16;
/** Nobody must have waited for anything for so long. */
const quietMs = 300;
/** Of its time this process may work at most, or it is left alone: what is filled takes a tenth by itself. */
const busyShare = 0.4;

export function createTileFiller({ maker, cache, maxBytes, log }: Plan): TileFiller {
  /** By fingerprint. */
  const waiting = new Map<string, MadeFrom>();
  const filled = new Set<string>();
  const closing = new AbortController();
  let working: Promise<void> | null = null;

  /** Until nobody waits for a picture, and this process has little to do. */
  async function quiet(): Promise<void> {
    for (;;) {
      const before = performance.eventLoopUtilization();
      await wait(quietMs, undefined, { signal: closing.signal, ref: false });
      const { utilization } = performance.eventLoopUtilization(before);
      if (!maker.isWanted && utilization < busyShare) return;
    }
  }

  /** @returns the bytes of the tile; 0 for one that is there already */
  async function make({ location, fingerprint }: MadeFrom, address: DeepZoomAddress): Promise<number> {
    const key = { fingerprint, name: tileNameIn(address) };
    if (await cache.has(key)) return 0;
    const jpeg = await maker.tileAhead({ ...location, fingerprint }, address, closing.signal);
    cache.putAside(key, jpeg);
    return jpeg.byteLength;
  }

  const hasRoom = (used: number) =>
    used < maxBytes * slideShare && cache.freeBytes() > maxBytes * keptFreeShare;

  async function fillOne(from: MadeFrom): Promise<void> {
    const expected = { ...from.location, fingerprint: from.fingerprint };
    let used = 0;
    await quiet();
    const tiles = await maker.tilesToMake(expected, mostTiles, closing.signal);
    let before = performance.eventLoopUtilization();
    for (const address of tiles) {
      closing.signal.throwIfAborted();
      if (!hasRoom(used)) return;
      const { active, idle, utilization } = performance.eventLoopUtilization(before);
      const isLongEnough = active + idle > quietMs;
      if (maker.isWanted || (isLongEnough && utilization > busyShare)) await quiet();
      if (isLongEnough) before = performance.eventLoopUtilization();
      used += await make(from, address);
    }
  }

  async function fillWaiting(): Promise<void> {
    for (const [fingerprint, from] of waiting) {
      waiting.delete(fingerprint);
      filled.add(fingerprint);
      try {
        await fillOne(from);
      } catch (error) {
        if (closing.signal.aborted) return;
        // Made when somebody asks for it; then it is told what is wrong.
        if (error instanceof SlideError) log.debug({ err: error }, 'a slide was not filled to the end');
        else log.warn({ err: error }, 'a slide could not be filled');
      }
    }
  }

  async function work(): Promise<void> {
    while (waiting.size > 0 && !closing.signal.aborted) await fillWaiting();
    working = null;
  }

  return {
    fill(from) {
      const { fingerprint } = from;
      if (maxBytes === 0 || closing.signal.aborted || filled.has(fingerprint)) return;
      waiting.delete(fingerprint);
      waiting.set(fingerprint, from);
      const [longest] = waiting.keys();
      if (waiting.size > mostWaiting && longest !== undefined) waiting.delete(longest);
      working ??= work();
    },

    async settled() {
      while (working !== null) await working;
    },

    async close() {
      closing.abort();
      waiting.clear();
      while (working !== null) await working;
    },
  };
}
