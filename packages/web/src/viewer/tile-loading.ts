/** Loads the tiles of one slide for the viewer, with retries, and reports the progress. */
import { delay } from '../api/delay.ts';
import { type FetchPixels, loadPixels, PixelError } from './pixels.ts';

/** The progress that the user sees. */
export type LoadingState =
  /** The descriptor of the slide is being loaded. */
  | { readonly phase: 'opening' }
  /** `loaded` also counts tiles that have failed, so that it reaches `requested` at the end. */
  | { readonly phase: 'tiles'; readonly loaded: number; readonly requested: number }
  /** A tile has failed and is being requested again. */
  | { readonly phase: 'retrying' }
  /** A request waits for a new image session (the credential for loading pixels). */
  | { readonly phase: 'renewing-session' };

/** Time limit of a tile request. */
export const tileTimeoutMs = 120_000;

/** Other tiles wait until the tiles of the first view have arrived or failed, but at most for this time. */
const firstViewHeadStartMs = 1000;

/** Delays between the attempts to load a tile: four attempts within about seven seconds. */
const retryDelaysMs = [1000, 2000, 4000];

interface TileLoadingOptions {
  readonly fetchPixels: FetchPixels;
  /** Aborted when the slide is closed; aborts all requests. */
  readonly signal: AbortSignal;
  /** Called when the progress changes. When a renewal of the session and a retry are running, the renewal is reported. */
  readonly onChange: (state: LoadingState) => void;
}

/** The tiles of one slide, by their URL. */
export interface TileLoading {
  /**
   * Loads a tile. Concurrent calls for one tile share one request: the slide and its overview need the same tiles.
   *
   * @throws PixelError after the last attempt; after an abort, the reason of the abort
   */
  load(url: string): Promise<Blob>;
  /**
   * Starts to load the tiles of the first view, before OpenSeadragon requests them. All other tiles wait for them, such as the
   * coarser tiles that OpenSeadragon also requests.
   *
   * @returns the tiles in the order of the URLs, as `load` will return them
   */
  preload(urls: readonly string[]): readonly Promise<Blob>[];
  /** Returns whether at least one tile has been loaded. */
  hasLoaded(): boolean;
}

export function createTileLoading({ fetchPixels, signal, onChange }: TileLoadingOptions): TileLoading {
  let requested = 0;
  /** Number of tiles that were loaded or have failed. */
  let settled = 0;
  let hasLoadedTile = false;
  const loadingTiles = new Map<string, Promise<Blob>>();
  /** Preloaded tiles of the first view, loading or loaded, that `load` has not returned yet. */
  const preloadedTiles = new Map<string, Promise<Blob>>();
  /** Resolves when the tiles of the first view are settled or their head start is over; null when other tiles need not wait. */
  let firstView: Promise<unknown> | null = null;
  /** URLs of tiles whose request waits for a new image session. */
  const renewing = new Set<string>();
  /** URLs of tiles that have failed at least once and are not settled yet. */
  const retrying = new Set<string>();

  function publish() {
    if (renewing.size > 0) onChange({ phase: 'renewing-session' });
    else if (retrying.size > 0) onChange({ phase: 'retrying' });
    else onChange({ phase: 'tiles', loaded: settled, requested });
  }

  async function loadOnce(url: string): Promise<Blob> {
    const onRenewing = () => {
      renewing.add(url);
      publish();
    };
    try {
      const signalWithTimeout = AbortSignal.any([signal, AbortSignal.timeout(tileTimeoutMs)]);
      return await loadPixels(fetchPixels, url, {
        signal: signalWithTimeout,
        onRenewing,
        // Tiles are loaded before other images of the page, such as thumbnails.
        priority: 'high',
      });
    } finally {
      renewing.delete(url);
    }
  }

  async function loadWithRetries(url: string): Promise<Blob> {
    for (const delayMs of retryDelaysMs) {
      try {
        return await loadOnce(url);
      } catch (error) {
        if (!isWorthRetrying(error)) throw error;
        retrying.add(url);
        publish();
        await delay(delayMs, signal); // rejects when the slide is closed
      }
    }
    return loadOnce(url);
  }

  async function loadAndCount(url: string, isOfFirstView: boolean): Promise<Blob> {
    requested += 1;
    publish();
    try {
      if (!isOfFirstView && firstView !== null) await firstView;
      const tile = await loadWithRetries(url);
      hasLoadedTile = true;
      return tile;
    } finally {
      settled += 1;
      retrying.delete(url);
      loadingTiles.delete(url);
      publish();
    }
  }

  function startLoading(url: string, { isOfFirstView = false } = {}): Promise<Blob> {
    const tile = loadAndCount(url, isOfFirstView);
    loadingTiles.set(url, tile);
    return tile;
  }

  return {
    load: (url) => {
      const existing = preloadedTiles.get(url) ?? loadingTiles.get(url);
      preloadedTiles.delete(url);
      return existing ?? startLoading(url);
    },
    preload: (urls) => {
      const tiles = urls.map((url) => {
        const existing = preloadedTiles.get(url) ?? loadingTiles.get(url);
        if (existing !== undefined) return existing;
        const tile = startLoading(url, { isOfFirstView: true });
        preloadedTiles.set(url, tile);
        tile.catch(() => undefined); // `load` returns the same promise, so its caller handles the error
        return tile;
      });
      const firstViewSettled = Promise.allSettled(preloadedTiles.values());
      firstView = Promise.race([
        firstViewSettled,
        delay(firstViewHeadStartMs, signal).catch(() => undefined),
      ]).then(() => {
        firstView = null;
      });
      return tiles;
    },
    hasLoaded: () => hasLoadedTile,
  };
}

/**
 * Returns whether a retry within seconds may help. A retry cannot help when the server has rejected a renewed session (401) or
 * no session can be created. Unlike `canRetry`, which decides about later retries, the function also returns true for missing (404) and
 * damaged (502) tiles.
 */
function isWorthRetrying(error: unknown): boolean {
  if (!(error instanceof PixelError)) return false;
  const { failure } = error;
  return failure.kind === 'other' || (failure.kind === 'status' && failure.status !== 401);
}
