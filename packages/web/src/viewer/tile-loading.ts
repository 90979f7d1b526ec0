/** Loading the tiles of one slide: patient with a server that stumbles, and able to say what it waits for. */
import { delay } from '../api/delay.ts';
import { type FetchPixels, loadPixels, PixelError } from './pixels.ts';

/** What the person waits for. */
export type LoadingState =
  | { readonly phase: 'opening' }
  | { readonly phase: 'tiles'; readonly loaded: number; readonly asked: number }
  | { readonly phase: 'retrying' }
  | { readonly phase: 'renewing-session' };

/** After this long without an answer a tile is given up. */
export const tileTimeoutMs = 120_000;

/** So long at most the tiles of the first view have the line to themselves. */
const firstAloneMs = 1000;

/** Waits between the tries of one tile: four tries in seven seconds. */
const retryDelaysMs = [1000, 2000, 4000];

interface TileLoadingOptions {
  readonly fetchPixels: FetchPixels;
  /** Ends everything: another slide is shown. */
  readonly signal: AbortSignal;
  /** Told whenever there is something else to say; a renewal is said before a retry. */
  readonly onChange: (state: LoadingState) => void;
}

export interface TileLoading {
  /**
   * The slide and its overview ask for the same tiles; what is on its way is not asked for twice.
   *
   * @throws PixelError after the last try; the abort's reason
   */
  load(address: string): Promise<Blob>;
  /**
   * The tiles of the first view, which will be asked for in a moment: they begin to come now, and each waits for the one
   * who wants it. All others, the coarser ones that OpenSeadragon wants beside them, come after them.
   */
  preload(addresses: readonly string[]): void;
  /** Whether any tile has come. */
  hasLoaded(): boolean;
}

export function createTileLoading({ fetchPixels, signal, onChange }: TileLoadingOptions): TileLoading {
  let asked = 0;
  let settled = 0;
  let loaded = 0;
  const onTheWay = new Map<string, Promise<Blob>>();
  /** Tiles asked for ahead that nobody has taken yet; they stay here when they have come. */
  const ahead = new Map<string, Promise<Blob>>();
  /** The tiles of the first view have come; null when none are on their way. */
  let firstView: Promise<unknown> | null = null;
  const renewing = new Set<string>();
  const retrying = new Set<string>();

  function publish() {
    if (renewing.size > 0) onChange({ phase: 'renewing-session' });
    else if (retrying.size > 0) onChange({ phase: 'retrying' });
    else onChange({ phase: 'tiles', loaded: settled, asked });
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
        // Ahead of pictures that are merely in the page, thumbnails of a catalogue say.
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

  /** @param isFirst of the first view */
  async function start(address: string, isFirst: boolean): Promise<Blob> {
    asked += 1;
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
      for (const address of addresses) {
        if (ahead.has(address) || onTheWay.has(address)) continue;
        const tile = begin(address, true);
        ahead.set(address, tile);
        tile.catch(() => undefined); // whoever takes it hears of it
      }
      const come = Promise.allSettled(ahead.values());
      firstView = Promise.race([come, delay(firstAloneMs, signal).catch(() => undefined)]).then(() => {
        firstView = null;
      });
    },
    hasLoaded: () => loaded > 0,
  };
}

/** A session refused even after its renewal, and one that cannot be made, will not mend by asking on. */
function isWorthRetrying(error: unknown): boolean {
  if (!(error instanceof PixelError)) return false;
  const { failure } = error;
  return failure.kind === 'other' || (failure.kind === 'status' && failure.status !== 401);
}
