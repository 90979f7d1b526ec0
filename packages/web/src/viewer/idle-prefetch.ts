/**
 * Loads the tiles that will probably be needed next, while the view is sharp and rests. A movement aborts it, so that the tiles
 * of the new field never wait behind it.
 */
import type { DeepZoomDescriptor } from './descriptor.ts';
import type { Point } from './overlay/placement.ts';
import { type FetchPixels, loadPixels, PixelError } from './pixels.ts';
import { prefetchTiles } from './prefetch-tiles.ts';
import type { TileAddress } from './slide-tiles.ts';
import type { SlideView } from './slide-view.ts';
import type { SlideField } from './view-address.ts';

/** The view rests for this long before anything is loaded ahead. */
const restMs = 150;
/** A busy server is left alone for this long. */
const busyMs = 30_000;
const concurrent = 4;
const busyStatuses: readonly number[] = [429, 503];

/** Network Information API, in some browsers. */
interface Connection {
  readonly saveData?: boolean;
  readonly effectiveType?: string;
}

interface IdlePrefetchOptions {
  readonly view: Pick<SlideView, 'destination' | 'size' | 'pointer' | 'prefetch'>;
  readonly descriptor: DeepZoomDescriptor;
  readonly addressOf: (tile: TileAddress) => string;
  readonly fetchPixels: FetchPixels;
  /** Aborted when the slide is closed. */
  readonly signal: AbortSignal;
}

export interface IdlePrefetch {
  /** Every tile of the view is drawn. */
  onSharp(): void;
  /** The view lacks tiles. */
  onBusy(): void;
  /** The view moves. */
  onMove(): void;
}

export function createIdlePrefetch(options: IdlePrefetchOptions): IdlePrefetch {
  const { view, descriptor, addressOf, fetchPixels, signal } = options;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let running: AbortController | null = null;
  let lastField: SlideField | null = null;
  let direction: Point = { x: 0, y: 0 };
  let busyUntil = 0;
  let isSharp = false;

  function stop() {
    clearTimeout(timer);
    running?.abort();
    running = null;
  }
  signal.addEventListener('abort', stop, { once: true });

  async function loadAll(tiles: TileAddress[], end: AbortController) {
    for (let tile = tiles.shift(); tile !== undefined && !end.signal.aborted; tile = tiles.shift()) {
      const address = addressOf(tile);
      const request = { signal: end.signal, onRenewing: stop, priority: 'low' as const };
      try {
        await view.prefetch(tile, address, () => loadPixels(fetchPixels, address, request));
      } catch (error) {
        // What the view needs it will load itself, and report.
        if (isBusy(error)) {
          busyUntil = Date.now() + busyMs;
          end.abort();
        }
      }
    }
  }

  function begin() {
    const field = view.destination();
    if (signal.aborted || field === null || Date.now() < busyUntil || isConnectionSlow()) return;
    if (lastField !== null && (lastField.x !== field.x || lastField.y !== field.y)) {
      direction = { x: field.x - lastField.x, y: field.y - lastField.y };
    }
    lastField = field;
    const end = new AbortController();
    running = end;
    const tiles = [
      ...prefetchTiles(descriptor, { field, size: view.size(), direction, pointer: view.pointer() }),
    ];
    for (let loader = 0; loader < concurrent; loader += 1) void loadAll(tiles, end);
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
    onBusy: () => {
      isSharp = false;
      stop();
    },
    onMove: schedule,
  };
}

function isBusy(error: unknown): boolean {
  return (
    error instanceof PixelError &&
    error.failure.kind === 'status' &&
    busyStatuses.includes(error.failure.status)
  );
}

/** Whether data costs money or arrives slowly. */
function isConnectionSlow(): boolean {
  const { connection } = navigator as Navigator & { readonly connection?: Connection };
  return connection?.saveData === true || /2g|3g/.test(connection?.effectiveType ?? '');
}
