/**
 * Prefetches the tiles that will probably be needed next while the view is sharp and does not move. A movement aborts the prefetch,
 * so that it never delays the tiles of the new field.
 */
import type { DeepZoomDescriptor } from './descriptor.ts';
import type { Point } from './overlay/placement.ts';
import { type FetchPixels, loadPixels, PixelError } from './pixels.ts';
import { prefetchTiles } from './prefetch-tiles.ts';
import type { TileCoordinates } from './slide-tiles.ts';
import type { SlideView } from './slide-view.ts';
import type { SlideField } from './view-url.ts';

/** Prefetching starts when the view has not moved for this time. */
const restMs = 150;
/** No tile is prefetched for this time after the server has responded that it is busy. */
const serverBusyPauseMs = 30_000;
/** Number of tiles that are prefetched at the same time. */
const concurrentLoads = 4;
const busyStatuses: readonly number[] = [429, 503];

/** The part of the Network Information API that is used here; only some browsers have it. */
interface Connection {
  readonly saveData?: boolean;
  readonly effectiveType?: string;
}

interface IdlePrefetchOptions {
  /** View of the slide, of which only these functions are needed. */
  readonly view: Pick<SlideView, 'destination' | 'size' | 'pointer' | 'prefetch'>;
  readonly descriptor: DeepZoomDescriptor;
  readonly urlOf: (tile: TileCoordinates) => string;
  readonly fetchPixels: FetchPixels;
  /** Aborted when the slide is closed. */
  readonly signal: AbortSignal;
}

export interface IdlePrefetch {
  /** To be called when every tile of the view is drawn. */
  onSharp(): void;
  /** To be called when the view lacks tiles. */
  onTilesMissing(): void;
  /** To be called at each step of a movement. */
  onMove(): void;
}

export function createIdlePrefetch(options: IdlePrefetchOptions): IdlePrefetch {
  const { view, descriptor, urlOf, fetchPixels, signal } = options;
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** Aborts the running prefetch; null while none runs. */
  let runningPrefetch: AbortController | null = null;
  let lastField: SlideField | null = null; // the field of the last prefetch
  /** The last movement of the field's centre, in image pixels. */
  let direction: Point = { x: 0, y: 0 };
  let serverBusyUntil = 0;
  let isSharp = false;

  function stop() {
    clearTimeout(timer);
    runningPrefetch?.abort();
    runningPrefetch = null;
  }
  signal.addEventListener('abort', stop, { once: true });

  /** Loads tiles one after the other and removes them from the array, which several calls share. */
  async function loadAll(tiles: TileCoordinates[], abortController: AbortController) {
    for (
      let tile = tiles.shift();
      tile !== undefined && !abortController.signal.aborted;
      tile = tiles.shift()
    ) {
      const url = urlOf(tile);
      // A prefetch does not wait for a new image session: it stops.
      const request = { signal: abortController.signal, onRenewing: stop, priority: 'low' as const };
      try {
        await view.prefetch(tile, url, () => loadPixels(fetchPixels, url, request));
      } catch (error) {
        // Other errors are ignored: if the view needs the tile, it loads it again and reports the error.
        if (isServerBusy(error)) {
          serverBusyUntil = Date.now() + serverBusyPauseMs;
          abortController.abort();
        }
      }
    }
  }

  function begin() {
    const field = view.destination();
    if (signal.aborted || field === null || Date.now() < serverBusyUntil || isConnectionSlow()) return;
    if (lastField !== null && (lastField.x !== field.x || lastField.y !== field.y)) {
      direction = { x: field.x - lastField.x, y: field.y - lastField.y };
    }
    lastField = field;
    const abortController = new AbortController();
    runningPrefetch = abortController;
    const tiles = [
      ...prefetchTiles(descriptor, { field, size: view.size(), direction, pointer: view.pointer() }),
    ];
    for (let loader = 0; loader < concurrentLoads; loader += 1) void loadAll(tiles, abortController);
  }

  function schedule() {
    stop();
    if (isSharp && !signal.aborted) timer = setTimeout(begin, restMs);
  }

  return {
    onSharp: () => {
      isSharp = true;
      schedule();
    },
    onTilesMissing: () => {
      isSharp = false;
      stop();
    },
    onMove: schedule,
  };
}

function isServerBusy(error: unknown): boolean {
  return (
    error instanceof PixelError &&
    error.failure.kind === 'status' &&
    busyStatuses.includes(error.failure.status)
  );
}

/** Whether the person saves data or the connection is slow. */
function isConnectionSlow(): boolean {
  const { connection } = navigator as Navigator & { readonly connection?: Connection };
  return connection?.saveData === true || /2g|3g/.test(connection?.effectiveType ?? '');
}
