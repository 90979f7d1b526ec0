/**
 * Prerendering: renders the tiles that a slide's file does not contain before a viewer requests them. It renders the smallest
 * levels first, one tile at a time, one slide at a time, and only while no request waits for a render worker. Slides that a
 * viewer has opened come before slides that a scan has found.
 *
 * Prerendering never evicts cached tiles: it stops when the cache is three quarters full, and at an eighth of the cache per
 * slide.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { type DeepZoomAddress, type RenderPool, SlideError } from '@lamina/slide';
import type { Logger } from 'pino';
import { type RenderSource, tileNameIn } from './render-source.ts';
import type { TileCache } from './tile-cache.ts';

/** Why a slide is prerendered: a viewer has opened it, or a scan has found it. */
export type PrerenderReason = 'opened' | 'found';

export interface TilePrerenderer {
  /** Queues a slide. A slide that this process has prerendered is ignored until its file changes. */
  fill(from: RenderSource, reason: PrerenderReason): void;
  /** Resolves when the queue is empty. */
  settled(): Promise<void>;
  /** Stops prerendering. Resolves when the current tile is cancelled. */
  close(): Promise<void>;
}

interface Turn {
  readonly from: RenderSource;
  /** Becomes `opened` when a viewer opens a slide that a scan has found. */
  reason: PrerenderReason;
}

interface TilePrerendererOptions {
  readonly renderPool: Pick<RenderPool, 'prerenderTile' | 'tilesToRender' | 'hasWaitingRequests'>;
  readonly cache: Pick<TileCache, 'has' | 'putAside' | 'freeBytes'>;
  /** Limit of the disk cache; 0: nothing is prerendered. */
  readonly maxBytes: number;
  readonly log: Logger;
}

/** A slide of 40,000 × 30,000 pixels with levels by four has some 1,900 tiles to render; one without levels 7,000. */
const maxTiles = 10_000;
/** Maximum share of one slide in the cache, and the share of the cache that is left to tiles that viewers request. */
const slideShare = 1 / 8;
const reservedShare = 1 / 4;
/** Maximum number of waiting slides per reason; beyond it, the slide that has waited longest is removed. */
const maxWaiting = 16;
/** Prerendering starts after this time without a waiting request. */
const quietMs = { opened: 300, found: 5000 } satisfies Record<PrerenderReason, number>;
/** Interval of the checks for waiting requests. */
const checkIntervalMs = 300;
/** Prerendering pauses above this event loop utilisation; prerendering itself causes a tenth of it. */
const maxUtilization = 0.4;

export function createTilePrerenderer({
  renderPool,
  cache,
  maxBytes,
  log,
}: TilePrerendererOptions): TilePrerenderer {
  /** Queues by reason; keys are fingerprints. */
  const waiting = { opened: new Map<string, RenderSource>(), found: new Map<string, RenderSource>() };
  const prerendered = new Set<string>();
  const closing = new AbortController();
  let working: Promise<void> | null = null;
  /** The slide that is being prerendered. */
  let turn: Turn | null = null;

  const hasToYield = ({ reason }: Turn) => reason === 'found' && waiting.opened.size > 0;

  /** Waits until no request has waited and the event loop was idle for long enough, or the slide has to yield. */
  async function waitForQuiet(current: Turn): Promise<void> {
    for (let quietFor = 0; quietFor < quietMs[current.reason] && !hasToYield(current); ) {
      const before = performance.eventLoopUtilization();
      await wait(checkIntervalMs, undefined, { signal: closing.signal, ref: false });
      const { utilization } = performance.eventLoopUtilization(before);
      quietFor =
        renderPool.hasWaitingRequests || utilization >= maxUtilization ? 0 : quietFor + checkIntervalMs;
    }
  }

  /** @returns the bytes of the tile; 0 when it was cached already */
  async function render({ location, fingerprint }: RenderSource, address: DeepZoomAddress): Promise<number> {
    const key = { fingerprint, name: tileNameIn(address) };
    if (await cache.has(key)) return 0;
    const jpeg = await renderPool.prerenderTile({ ...location, fingerprint }, address, closing.signal);
    cache.putAside(key, jpeg);
    return jpeg.byteLength;
  }

  const mayGoOn = (used: number) =>
    used < maxBytes * slideShare && cache.freeBytes() > maxBytes * reservedShare;

  /** @returns false when the slide has to wait because a viewer has opened another one */
  async function prerender(current: Turn): Promise<boolean> {
    const { from } = current;
    const expected = { ...from.location, fingerprint: from.fingerprint };
    let used = 0;
    await waitForQuiet(current);
    if (hasToYield(current)) return false;
    const tiles = await renderPool.tilesToRender(expected, maxTiles, closing.signal);
    let before = performance.eventLoopUtilization();
    for (const address of tiles) {
      closing.signal.throwIfAborted();
      if (!mayGoOn(used)) return true;
      const { active, idle, utilization } = performance.eventLoopUtilization(before);
      const isLongEnough = active + idle > checkIntervalMs;
      if (renderPool.hasWaitingRequests || (isLongEnough && utilization > maxUtilization))
        await waitForQuiet(current);
      if (hasToYield(current)) return false;
      if (isLongEnough) before = performance.eventLoopUtilization();
      used += await render(from, address);
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
      prerendered.add(turn.from.fingerprint);
      try {
        if (await prerender(turn)) continue;
        prerendered.delete(turn.from.fingerprint);
        enqueue(turn);
      } catch (error) {
        if (closing.signal.aborted) break;
        // A request for a tile that cannot be rendered reports the error to its client.
        if (error instanceof SlideError)
          log.debug(
            { err: error, fingerprint: turn.from.fingerprint },
            'prerendering of slide ended at a tile that cannot be rendered',
          );
        else
          log.warn(
            { err: error, fingerprint: turn.from.fingerprint },
            'prerendering of slide failed; its tiles are rendered when they are requested',
          );
      }
    }
    working = null;
  }

  /** Appends to the queue of the reason. */
  function enqueue({ from, reason }: Turn): void {
    const queue = waiting[reason];
    queue.delete(from.fingerprint);
    queue.set(from.fingerprint, from);
    const [longest] = queue.keys();
    if (queue.size > maxWaiting && longest !== undefined) queue.delete(longest);
  }

  return {
    fill(from, reason) {
      const { fingerprint } = from;
      if (maxBytes === 0 || closing.signal.aborted) return;
      if (reason === 'opened' && turn?.from.fingerprint === fingerprint) turn.reason = reason;
      if (prerendered.has(fingerprint)) return;
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
