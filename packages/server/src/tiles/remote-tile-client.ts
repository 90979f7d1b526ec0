/**
 * Client with which an HTTP worker process gets rendered tiles from the primary process, which renders and caches tiles
 * for all HTTP worker processes. The client also keeps recently used tiles in memory.
 */
import type {
  DeepZoomAddress,
  FolderLocation,
  Requester,
  SlideLocation,
  TileColour,
  View,
} from '@lamina/slide';
import type { Caller, CallTable } from './process-calls.ts';
import { type RenderSource, tileNameIn } from './render-source.ts';
import { type RenderedTiles, thumbnailName } from './rendered-tiles.ts';
import { createTileMemoryCache, type TileKey } from './tile-memory-cache.ts';
import type { PrerenderReason } from './tile-prerenderer.ts';

/** Returns the functions that the primary process runs for the HTTP worker processes. `createRemoteTileClient` calls them by name. */
export function renderedTilesCalls(renderedTiles: RenderedTiles) {
  return {
    tile: (
      signal: AbortSignal,
      source: RenderSource,
      address: DeepZoomAddress,
      requester: Requester,
      colour: TileColour,
    ) => renderedTiles.tile(source, address, { signal, requester }, { colour }),
    view: (signal: AbortSignal, source: RenderSource, view: View, requester: Requester) =>
      renderedTiles.view(source, view, { signal, requester }),
    // Computing a colour profile or colour table is not cancelled, because the result is cached.
    colourProfile: (_: AbortSignal, source: RenderSource, requester: Requester) =>
      renderedTiles.colourProfile(source, requester),
    colourTable: (_: AbortSignal, source: RenderSource, requester: Requester) =>
      renderedTiles.colourTable(source, requester),
    thumbnail: (signal: AbortSignal, source: RenderSource, requester: Requester) =>
      renderedTiles.thumbnail(source, signal, requester),
    startWorker: async () => renderedTiles.startWorker(),
    queuePrerendering: async (_: AbortSignal, source: RenderSource, reason: PrerenderReason) =>
      renderedTiles.queuePrerendering(source, reason),
    inspect: (signal: AbortSignal, location: SlideLocation, requester: Requester | null) =>
      renderedTiles.inspect(location, signal, requester),
    group: (signal: AbortSignal, folder: FolderLocation, names: readonly string[]) =>
      renderedTiles.group(folder, names, signal),
  } satisfies CallTable;
}

export type RenderedTilesCalls = ReturnType<typeof renderedTilesCalls>;

/** Returns the path of the slide or folder that is the first argument of a call, for the log; undefined without arguments. */
export function pathInCall([source]: readonly unknown[]): string | undefined {
  const { location, path } = (source ?? {}) as Partial<RenderSource & SlideLocation>;
  return location?.path ?? path;
}

const memoryCacheBytes = 32 * 1024 * 1024; // size limit of the memory cache of one process

export function createRemoteTileClient(caller: Caller<RenderedTilesCalls>): RenderedTiles {
  const memory = createTileMemoryCache(memoryCacheBytes);
  let foundInMemory = 0; // number of tiles and thumbnails
  const findInMemory = (key: TileKey) => {
    const cached = memory.get(key);
    if (cached !== null) foundInMemory++;
    return cached;
  };

  return {
    async tile(source, address, client, { colour = 'scanned' } = {}) {
      const key = { fingerprint: source.fingerprint, name: tileNameIn(address, colour) };
      const cached = findInMemory(key);
      if (cached !== null) return { bytes: cached, wasCached: true };
      const tile = await caller.call('tile', [source, address, client.requester, colour], client.signal);
      memory.put(key, tile.bytes);
      return tile;
    },
    // Only the primary process caches views (rectangles of a slide at any size).
    view: (source, view, client) => caller.call('view', [source, view, client.requester], client.signal),
    colourProfile: (source, requester) => caller.call('colourProfile', [source, requester]),
    colourTable: (source, requester) => caller.call('colourTable', [source, requester]),
    async thumbnail(source, signal, requester) {
      const key = { fingerprint: source.fingerprint, name: thumbnailName };
      const cached = findInMemory(key);
      if (cached !== null) return cached;
      const thumbnail = await caller.call('thumbnail', [source, requester], signal);
      memory.put(key, thumbnail);
      return thumbnail;
    },
    startWorker() {
      caller.call('startWorker', []).catch(() => {}); // after an error, the first tile waits for the start of a render worker
    },
    queuePrerendering(source, reason) {
      // After an error, the tiles of the slide are rendered when they are requested.
      caller.call('queuePrerendering', [source, reason]).catch(() => {});
    },
    inspect: (location, signal, requester = null) => caller.call('inspect', [location, requester], signal),
    group: (folder, names, signal) => caller.call('group', [folder, names], signal),
    // The primary process reports the disk cache and the render queue in its own metrics.
    figures: () => ({
      memoryBytes: memory.bytes(),
      diskBytes: 0,
      foundInMemory,
      foundOnDisk: 0,
      queueLength: 0,
      isQueueFull: false,
      workerFaults: 0,
    }),
    close: async () => {}, // nothing to close: the render workers and the disk cache belong to the primary process
  };
}
