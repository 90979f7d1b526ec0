/**
 * Makes the tiles of a slide that its file does not have before somebody asks for them: the smallest levels first, one
 * tile at a time, one slide at a time, and only while nobody is looking. Slides that somebody has opened go before
 * those that have only been found.
 *
 * It fills what is empty and drives nothing out: it ends where the cache has little room left, and takes of each slide
 * the levels that are small enough together.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { type DeepZoomAddress, SlideError, type TileMaker } from '@lamina/slide';
import type { Logger } from 'pino';
import { type MadeFrom, tileNameIn } from './made-from.ts';
import type { TileCache } from './tile-cache.ts';

/** Why a slide is filled: somebody looks at it, or it is new in the catalogue and may be looked at. */
export type FillReason = 'opened' | 'found';

export interface TileFiller {
  /** When its turn comes. A slide that was filled, as it is now, is not filled again by this process. */
  fill(from: MadeFrom, reason: FillReason): void;
  /** Resolves when nothing is left to be filled. */
  settled(): Promise<void>;
  /** Resolves when the one tile that is being made is given up. */
  close(): Promise<void>;
}

interface Turn {
  readonly from: MadeFrom;
  /** Changes when somebody opens a slide that was only found. */
  reason: FillReason;
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
/** Slides that wait for one reason; of more, the one that has waited longest is left out. */
const mostWaiting = 16;
/** Nobody must have waited for anything for so long. */
const quietMs = { opened: 300, found: 5000 } satisfies Record<FillReason, number>;
/** How often it is looked whether somebody waits. */
const lookEveryMs = 300;
/** Of its time this process may work at most, or it is left alone: what is filled takes a tenth by itself. */
const busyShare = 0.4;

export function createTileFiller({ maker, cache, maxBytes, log }: Plan): TileFiller {
  /** By fingerprint; what comes first is filled first. */
  const waiting = { opened: new Map<string, MadeFrom>(), found: new Map<string, MadeFrom>() };
  const filled = new Set<string>();
  const closing = new AbortController();
  let working: Promise<void> | null = null;
  /** The slide that is being filled. */
  let turn: Turn | null = null;

  const hasToYield = ({ reason }: Turn) => reason === 'found' && waiting.opened.size > 0;

  /** Until nobody has waited for a picture, and this process has had little to do, for long enough; or it has to yield. */
  async function quiet(current: Turn): Promise<void> {
    for (let quietFor = 0; quietFor < quietMs[current.reason] && !hasToYield(current); ) {
      const before = performance.eventLoopUtilization();
      await wait(lookEveryMs, undefined, { signal: closing.signal, ref: false });
      const { utilization } = performance.eventLoopUtilization(before);
      quietFor = maker.isWanted || utilization >= busyShare ? 0 : quietFor + lookEveryMs;
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

  /** @returns false when it was left because somebody has opened another one */
  async function fillOne(current: Turn): Promise<boolean> {
    const { from } = current;
    const expected = { ...from.location, fingerprint: from.fingerprint };
    let used = 0;
    await quiet(current);
    if (hasToYield(current)) return false;
    const tiles = await maker.tilesToMake(expected, mostTiles, closing.signal);
    let before = performance.eventLoopUtilization();
    for (const address of tiles) {
      closing.signal.throwIfAborted();
      if (!hasRoom(used)) return true;
      const { active, idle, utilization } = performance.eventLoopUtilization(before);
      const isLongEnough = active + idle > lookEveryMs;
      if (maker.isWanted || (isLongEnough && utilization > busyShare)) await quiet(current);
      if (hasToYield(current)) return false;
      if (isLongEnough) before = performance.eventLoopUtilization();
      used += await make(from, address);
    }
    return true;
  }

  function nextTurn(): Turn | null {
    for (const reason of ['opened', 'found'] as const) {
      const [from] = waiting[reason].values();
      if (from === undefined) continue;
      waiting[reason].delete(from.fingerprint);
      return { from, reason };
    }
    return null;
  }

  async function work(): Promise<void> {
    for (turn = nextTurn(); turn !== null; turn = nextTurn()) {
      filled.add(turn.from.fingerprint);
      try {
        if (await fillOne(turn)) continue;
        filled.delete(turn.from.fingerprint);
        enqueue(turn);
      } catch (error) {
        if (closing.signal.aborted) break;
        // Made when somebody asks for it; then it is told what is wrong.
        if (error instanceof SlideError) log.debug({ err: error }, 'a slide was not filled to the end');
        else log.warn({ err: error }, 'a slide could not be filled');
      }
    }
    working = null;
  }

  /** As the last of its kind. */
  function enqueue({ from, reason }: Turn): void {
    const line = waiting[reason];
    line.delete(from.fingerprint);
    line.set(from.fingerprint, from);
    const [longest] = line.keys();
    if (line.size > mostWaiting && longest !== undefined) line.delete(longest);
  }

  return {
    fill(from, reason) {
      const { fingerprint } = from;
      if (maxBytes === 0 || closing.signal.aborted) return;
      if (reason === 'opened' && turn?.from.fingerprint === fingerprint) turn.reason = reason;
      if (filled.has(fingerprint)) return;
      if (reason === 'opened') waiting.found.delete(fingerprint);
      else if (waiting.opened.has(fingerprint)) return;
      enqueue({ from, reason });
      working ??= work();
    },

    async settled() {
      while (working !== null) await working;
    },

    async close() {
      closing.abort();
      waiting.opened.clear();
      waiting.found.clear();
      while (working !== null) await working;
    },
  };
}
