/**
 * Prerendering: renders the tiles that a slide's file does not contain before a viewer requests them. It renders one
 * slide after another, one tile after another from the smallest level to the largest, and only while no request waits
 * for a render worker (a process). Slides that a viewer has opened come before slides that a scan has found.
 *
 * Prerendering never evicts cached tiles: it stops when the disk cache is three quarters full, and a slide gets at most an eighth of
 * the disk cache.
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
  queue(source: RenderSource, reason: PrerenderReason): void;
  /** Resolves when no slide waits or is being prerendered. */
  settled(): Promise<void>;
  /** Stops prerendering. Resolves when the render job of the current tile has been cancelled. */
  close(): Promise<void>;
}

/** The prerendering of one slide, and its reason. */
interface PrerenderTask {
  readonly source: RenderSource;
  /** Becomes `opened` when a viewer opens a slide that a scan has found. */
  reason: PrerenderReason;
}

interface TilePrerendererOptions {
  readonly renderPool: Pick<RenderPool, 'prerenderTile' | 'tilesToPrerender' | 'hasWaitingRequests'>;
  readonly cache: Pick<TileCache, 'sizeOf' | 'putOnDisk' | 'freeBytes'>;
  /** Limit of the disk cache; 0: nothing is prerendered. */
  readonly maxBytes: number;
  readonly log: Logger;
}

/**
 * Maximum number of tiles of one slide; of a larger slide, only its smaller levels are prerendered. A slide of 40,000 × 30,000 pixels
 * with tiles of 240 pixels has about 5,900 tiles to render when each of its levels is a quarter as wide as the next larger one, and
 * 7,200 when it has only full resolution.
 */
const maxTiles = 10_000;
/** Share of the disk cache at which prerendering of a slide stops. The tiles of the slide that are cached already count, too. */
const slideShare = 1 / 8;
/** Share of the disk cache that stays free for tiles that viewers request. */
const reservedShare = 1 / 4;
/** Maximum number of waiting slides per reason; beyond it, the slide that has waited longest is removed. */
const maxWaiting = 16;
/** Time without a waiting request and without a busy event loop after which prerendering of a slide starts or continues. */
const quietMs = { opened: 300, found: 5000 } satisfies Record<PrerenderReason, number>;
/** Interval at which prerendering checks whether requests wait and how busy the event loop is. */
const checkIntervalMs = 300;
/** Prerendering, which itself uses little of the event loop, pauses above this event loop utilisation (0 to 1). */
const maxUtilization = 0.4;

export function createTilePrerenderer({
  renderPool,
  cache,
  maxBytes,
  log,
}: TilePrerendererOptions): TilePrerenderer {
  /** Queues of slides by reason; keys are the fingerprints of their files. */
  const waitingSlides = { opened: new Map<string, RenderSource>(), found: new Map<string, RenderSource>() };
  /** Fingerprints of slides that were prerendered or are being prerendered. */
  const startedSlides = new Set<string>();
  const closing = new AbortController();
  let currentWork: Promise<void> | null = null;
  /** The slide that is being prerendered. */
  let currentTask: PrerenderTask | null = null;

  /** Returns whether the slide was found by a scan and has to wait until a slide that a viewer has opened is prerendered. */
  const hasToYield = ({ reason }: PrerenderTask) => reason === 'found' && waitingSlides.opened.size > 0;

  /** Waits until no request has waited and the event loop has not been busy for `quietMs`, or until the slide has to yield. */
  async function waitForQuiet(current: PrerenderTask): Promise<void> {
    for (let quietForMs = 0; quietForMs < quietMs[current.reason] && !hasToYield(current); ) {
      const before = performance.eventLoopUtilization();
      await wait(checkIntervalMs, undefined, { signal: closing.signal, ref: false }); // undefined: no result
      const { utilization } = performance.eventLoopUtilization(before);
      const isQuiet = !renderPool.hasWaitingRequests && utilization < maxUtilization;
      quietForMs = isQuiet ? quietForMs + checkIntervalMs : 0;
    }
  }

  /** Renders and caches a tile, unless it is cached already. @returns the size of the tile in bytes */
  async function render({ location, fingerprint }: RenderSource, address: DeepZoomAddress): Promise<number> {
    const key = { fingerprint, name: tileNameIn(address) };
    const cachedSize = await cache.sizeOf(key);
    if (cachedSize !== null) return cachedSize;
    const jpeg = await renderPool.prerenderTile({ ...location, fingerprint }, address, closing.signal);
    cache.putOnDisk(key, jpeg);
    return jpeg.byteLength;
  }

  /** Returns whether another tile of the slide may be rendered. @param slideBytes size of its tiles that are cached */
  const hasSpace = (slideBytes: number) =>
    slideBytes < maxBytes * slideShare && cache.freeBytes() > maxBytes * reservedShare;

  /** Renders all uncached tiles of a slide. @returns false when the slide has to yield to a slide that a viewer has opened */
  async function prerender(current: PrerenderTask): Promise<boolean> {
    const { source } = current;
    const fileVersion = { ...source.location, fingerprint: source.fingerprint };
    let slideBytes = 0; // size of the tiles that this call has rendered or found in the cache
    await waitForQuiet(current);
    if (hasToYield(current)) return false;
    const tiles = await renderPool.tilesToPrerender(fileVersion, maxTiles, closing.signal);
    let measuredSince = performance.eventLoopUtilization();
    for (const address of tiles) {
      closing.signal.throwIfAborted();
      if (!hasSpace(slideBytes)) return true;
      const { active, idle, utilization } = performance.eventLoopUtilization(measuredSince);
      // The utilisation is measured over at least `checkIntervalMs`: over a few milliseconds, it says little.
      const isLongEnough = active + idle > checkIntervalMs;
      if (renderPool.hasWaitingRequests || (isLongEnough && utilization > maxUtilization))
        await waitForQuiet(current);
      if (hasToYield(current)) return false;
      if (isLongEnough) measuredSince = performance.eventLoopUtilization();
      slideBytes += await render(source, address);
    }
    return true;
  }

  /** Takes the slide that has waited longest; slides that a viewer has opened come first. */
  function nextTask(): PrerenderTask | null {
    for (const reason of ['opened', 'found'] as const) {
      const [source] = waitingSlides[reason].values();
      if (source === undefined) continue;
      waitingSlides[reason].delete(source.fingerprint);
      return { source, reason };
    }
    return null;
  }

  async function processQueues(): Promise<void> {
    for (currentTask = nextTask(); currentTask !== null; currentTask = nextTask()) {
      startedSlides.add(currentTask.source.fingerprint);
      try {
        if (await prerender(currentTask)) continue;
        // The slide had to yield and waits again.
        startedSlides.delete(currentTask.source.fingerprint);
        enqueue(currentTask);
      } catch (error) {
        if (closing.signal.aborted) break;
        // A debug entry is enough for a SlideError, because a request for the tile reports the error to its client.
        if (error instanceof SlideError)
          log.debug(
            { err: error, slidePath: currentTask.source.location.path },
            'prerendering of a slide stopped at a tile that cannot be rendered; the remaining tiles are rendered on request',
          );
        else
          log.warn(
            { err: error, slidePath: currentTask.source.location.path },
            'prerendering of a slide failed; its tiles are rendered on request',
          );
      }
    }
    currentWork = null;
  }

  /** Appends the slide to the end of the queue of its reason. */
  function enqueue({ source, reason }: PrerenderTask): void {
    const queue = waitingSlides[reason];
    queue.delete(source.fingerprint);
    queue.set(source.fingerprint, source);
    const [longestWaiting] = queue.keys();
    if (queue.size > maxWaiting && longestWaiting !== undefined) queue.delete(longestWaiting);
  }

  return {
    queue(source, reason) {
      const { fingerprint } = source;
      if (maxBytes === 0 || closing.signal.aborted) return;
      // A slide that is being prerendered because of a scan no longer has to yield when a viewer opens it.
      if (reason === 'opened' && currentTask?.source.fingerprint === fingerprint) currentTask.reason = reason;
      if (startedSlides.has(fingerprint)) return;
      if (reason === 'opened') waitingSlides.found.delete(fingerprint);
      else if (waitingSlides.opened.has(fingerprint)) return;
      enqueue({ source, reason });
      currentWork ??= processQueues();
    },

    async settled() {
      while (currentWork !== null) await currentWork;
    },

    async close() {
      closing.abort();
      waitingSlides.opened.clear();
      waitingSlides.found.clear();
      while (currentWork !== null) await currentWork;
    },
  };
}
