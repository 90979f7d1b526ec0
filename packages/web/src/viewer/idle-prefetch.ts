/**
 * Prefetches the tiles that the user will probably need next, while the view is sharp (every visible tile is drawn) and does
 * not move. A movement aborts the prefetch, so that it never delays the tiles of the new field (the visible part of the slide).
 */
import type { DeepZoomDescriptor } from './descriptor.ts';
import type { Point } from './overlay/placement.ts';
import { type FetchPixels, loadPixels, PixelError } from './pixels.ts';
import { tilesToPrefetch } from './prefetch-tiles.ts';
import type { TileCoordinates } from './slide-tiles.ts';
import type { SlideView } from './slide-view.ts';
import type { SlideField } from './view-address.ts';

/** Prefetching starts when the view has not moved for this time. */
const restMs = 150;
/** After the server has responded that it is busy, no tile is prefetched for this time. */
const serverBusyPauseMs = 30_000;
/** Number of tiles that are prefetched at the same time. */
const concurrentLoads = 4;
/** HTTP statuses of a busy server: too many requests, and service unavailable. */
const busyStatuses: readonly number[] = [429, 503];

/** Part of the Network Information API, which only some browsers have. `effectiveType` is, for example, `slow-2g`. */
interface Connection {
  readonly saveData?: boolean; // whether the user has asked for less data use
  readonly effectiveType?: string;
}

interface IdlePrefetchOptions {
  /** The functions of the view that the prefetch needs. */
  readonly view: Pick<SlideView, 'destination' | 'size' | 'pointer' | 'prefetch'>;
  readonly descriptor: DeepZoomDescriptor;
  readonly urlOf: (tile: TileCoordinates) => string;
  readonly fetchPixels: FetchPixels;
  /** Aborted when the slide is closed. */
  readonly signal: AbortSignal;
}

/** The events that the owner of the view must report to the prefetch. */
export interface IdlePrefetch {
  /** Must be called when every visible tile is drawn. */
  onSharp(): void;
  /** Must be called when visible tiles are missing. */
  onTilesMissing(): void;
  /** Must be called at each step of a movement. */
  onMove(): void;
}

export function createIdlePrefetch(options: IdlePrefetchOptions): IdlePrefetch {
  const { view, descriptor, urlOf, fetchPixels, signal } = options;
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** Aborts the running prefetch; null while no prefetch is running. */
  let runningPrefetch: AbortController | null = null;
  /** The field of the last prefetch; null before the first one. */
  let lastField: SlideField | null = null;
  /** The last movement of the field's centre, in image pixels. */
  let direction: Point = { x: 0, y: 0 };
  let serverBusyUntil = 0; // in milliseconds, as `Date.now` returns it
  let isSharp = false;

  function stop() {
    clearTimeout(timer);
    runningPrefetch?.abort();
    runningPrefetch = null;
  }
  signal.addEventListener('abort', stop, { once: true });

  /** Takes tiles from the array and loads them one after the other, until the array is empty. Several calls share the array. */
  async function loadAll(tiles: TileCoordinates[], abortController: AbortController) {
    for (
      let tile = tiles.shift();
      tile !== undefined && !abortController.signal.aborted;
      tile = tiles.shift()
    ) {
      const url = urlOf(tile);
      // When the image session (the credential for loading pixels) must be renewed, the prefetch stops.
      const request = { signal: abortController.signal, onRenewing: stop, priority: 'low' as const };
      try {
        await view.prefetch(tile, url, () => loadPixels(fetchPixels, url, request));
      } catch (error) {
        // Other errors are ignored: when the view needs the tile, the view requests it again and reports the error.
        if (isServerBusy(error)) {
          serverBusyUntil = Date.now() + serverBusyPauseMs;
          abortController.abort();
        }
      }
    }
  }

  /** Prefetches tiles for the current field, unless the server is busy or the connection is slow. */
  function begin() {
    const field = view.destination();
    if (signal.aborted || field === null || Date.now() < serverBusyUntil || isConnectionSlow()) return;
    if (lastField !== null && (lastField.x !== field.x || lastField.y !== field.y)) {
      direction = { x: field.x - lastField.x, y: field.y - lastField.y };
    }
    lastField = field;
    const abortController = new AbortController();
    runningPrefetch = abortController;
    // A copy, from which the calls of `loadAll` take the tiles.
    const tiles = [
      ...tilesToPrefetch(descriptor, { field, size: view.size(), direction, pointer: view.pointer() }),
    ];
    for (let loader = 0; loader < concurrentLoads; loader += 1) void loadAll(tiles, abortController);
  }

  /** Aborts the running prefetch. If the view is sharp, begins a new one after `restMs`. */
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

/** Returns whether the user has asked the browser for less data use, or the browser reports a slow connection. */
function isConnectionSlow(): boolean {
  const { connection } = navigator as Navigator & { readonly connection?: Connection };
  return connection?.saveData === true || /2g|3g/.test(connection?.effectiveType ?? '');
}
