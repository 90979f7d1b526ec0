/** Loads the tiles of one slide, with retries and progress. */
import { delay } from '../api/delay.ts';
import { type FetchPixels, loadPixels, PixelError } from './pixels.ts';

/** The progress that the person sees. */
export type LoadingState =
  | { readonly phase: 'opening' }
  | { readonly phase: 'tiles'; readonly loaded: number; readonly requested: number }
  | { readonly phase: 'retrying' }
  | { readonly phase: 'renewing-session' };

/** Time limit of a tile request. */
export const tileTimeoutMs = 120_000;

/** Longest time for which other tiles wait for those of the first view. */
const firstAloneMs = 1000;

/** Delays between the attempts of a tile: four attempts in seven seconds. */
const retryDelaysMs = [1000, 2000, 4000];

interface TileLoadingOptions {
  readonly fetchPixels: FetchPixels;
  /** Aborts everything: the slide is closed. */
  readonly signal: AbortSignal;
  /** Called when the progress changes; a renewal takes precedence over a retry. */
  readonly onChange: (state: LoadingState) => void;
}

export interface TileLoading {
  /**
   * Loads a tile. The slide and the navigator request the same tiles; concurrent requests share one.
   *
   * @throws PixelError after the last attempt; the abort's reason
   */
  load(address: string): Promise<Blob>;
  /**
   * Starts loading the tiles of the first view, before OpenSeadragon requests them. All other tiles, such as the coarser ones
   * that OpenSeadragon also requests, wait for them.
   *
   * @returns the tiles in the order of the addresses, as `load` will return them
   */
  preload(addresses: readonly string[]): readonly Promise<Blob>[];
  /** Whether any tile has arrived. */
  hasLoaded(): boolean;
}

export function createTileLoading({ fetchPixels, signal, onChange }: TileLoadingOptions): TileLoading {
  let requested = 0;
  let settled = 0;
  let loaded = 0;
  const onTheWay = new Map<string, Promise<Blob>>();
  /** Tiles of the first view that have not been requested yet, loaded or not. */
  const ahead = new Map<string, Promise<Blob>>();
  /** Resolves when the tiles of the first view have arrived; null when none are loading. */
  let firstView: Promise<unknown> | null = null;
  const renewing = new Set<string>();
  const retrying = new Set<string>();

  function publish() {
    if (renewing.size > 0) onChange({ phase: 'renewing-session' });
    else if (retrying.size > 0) onChange({ phase: 'retrying' });
    else onChange({ phase: 'tiles', loaded: settled, requested });
  }

  async function tryOnce(address: string): Promise<Blob> {
    const onRenewing = () => {
      renewing.add(address);
      publish();
    };
    try {
      const limited = AbortSignal.any([signal, AbortSignal.timeout(tileTimeoutMs)]);
      return await loadPixels(fetchPixels, address, {
        signal: limited,
        onRenewing,
        // Before other images of the page, such as thumbnails.
        priority: 'high',
      });
    } finally {
      renewing.delete(address);
    }
  }

  async function tryPatiently(address: string): Promise<Blob> {
    for (const delayMs of retryDelaysMs) {
      try {
        return await tryOnce(address);
      } catch (error) {
        if (!isWorthRetrying(error)) throw error;
        retrying.add(address);
        publish();
        await delay(delayMs, signal);
      }
    }
    return tryOnce(address);
  }

  /** @param isFirst whether the tile belongs to the first view */
  async function start(address: string, isFirst: boolean): Promise<Blob> {
    requested += 1;
    publish();
    try {
      if (!isFirst && firstView !== null) await firstView;
      const tile = await tryPatiently(address);
      loaded += 1;
      return tile;
    } finally {
      settled += 1;
      retrying.delete(address);
      onTheWay.delete(address);
      publish();
    }
  }

  function begin(address: string, isFirst = false): Promise<Blob> {
    const tile = start(address, isFirst);
    onTheWay.set(address, tile);
    return tile;
  }

  return {
    load: (address) => {
      const present = ahead.get(address) ?? onTheWay.get(address);
      ahead.delete(address);
      return present ?? begin(address);
    },
    preload: (addresses) => {
      const tiles = addresses.map((address) => {
        const present = ahead.get(address) ?? onTheWay.get(address);
        if (present !== undefined) return present;
        const tile = begin(address, true);
        ahead.set(address, tile);
        tile.catch(() => undefined); // the request for it receives the error
        return tile;
      });
      const come = Promise.allSettled(ahead.values());
      firstView = Promise.race([come, delay(firstAloneMs, signal).catch(() => undefined)]).then(() => {
        firstView = null;
      });
      return tiles;
    },
    hasLoaded: () => loaded > 0,
  };
}

/** Retries cannot help when a renewed session is rejected or none can be created. */
function isWorthRetrying(error: unknown): boolean {
  if (!(error instanceof PixelError)) return false;
  const { failure } = error;
  return failure.kind === 'other' || (failure.kind === 'status' && failure.status !== 401);
}
