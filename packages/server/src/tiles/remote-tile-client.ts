/**
 * Rendered tiles in a serving process: the primary process caches and renders them for all serving processes; this client
 * keeps recently used ones in memory.
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
import { createTileMemoryCache } from './tile-memory-cache.ts';
import type { PrerenderReason } from './tile-prerenderer.ts';

/** Calls that the primary process answers for the serving processes. */
export function renderedTilesCalls(renderedTiles: RenderedTiles) {
  return {
    tile: (
      signal: AbortSignal,
      from: RenderSource,
      address: DeepZoomAddress,
      requester: Requester,
      colour: TileColour,
    ) => renderedTiles.tile(from, address, { signal, requester }, { colour }),
    view: (signal: AbortSignal, from: RenderSource, view: View, requester: Requester) =>
      renderedTiles.view(from, view, { signal, requester }),
    colourProfile: (_: AbortSignal, from: RenderSource, requester: Requester) =>
      renderedTiles.colourProfile(from, requester),
    colourTable: (_: AbortSignal, from: RenderSource, requester: Requester) =>
      renderedTiles.colourTable(from, requester),
    thumbnail: (signal: AbortSignal, from: RenderSource, requester: Requester) =>
      renderedTiles.thumbnail(from, signal, requester),
    fill: async (_: AbortSignal, from: RenderSource, reason: PrerenderReason) =>
      renderedTiles.fill(from, reason),
    inspect: (signal: AbortSignal, location: SlideLocation, requester: Requester | null) =>
      renderedTiles.inspect(location, signal, requester),
    group: (signal: AbortSignal, folder: FolderLocation, names: readonly string[]) =>
      renderedTiles.group(folder, names, signal),
  } satisfies CallTable;
}

export type RenderedTilesCalls = ReturnType<typeof renderedTilesCalls>;

const memoryCacheBytes = 32 * 1024 * 1024;

export function createRemoteTileClient(caller: Caller<RenderedTilesCalls>): RenderedTiles {
  const memory = createTileMemoryCache(memoryCacheBytes);
  let foundInMemory = 0;

  return {
    async tile(from, address, client, { colour = 'scanned' } = {}) {
      const key = { fingerprint: from.fingerprint, name: tileNameIn(address, colour) };
      const cached = memory.get(key);
      if (cached !== null) {
        foundInMemory++;
        return { jpeg: cached, wasCached: true };
      }
      const tile = await caller.call('tile', [from, address, client.requester, colour], client.signal);
      memory.put(key, tile.jpeg);
      return tile;
    },
    view: (from, view, client) => caller.call('view', [from, view, client.requester], client.signal),
    colourProfile: (from, requester) => caller.call('colourProfile', [from, requester]),
    colourTable: (from, requester) => caller.call('colourTable', [from, requester]),
    async thumbnail(from, signal, requester) {
      const jpeg = await caller.call('thumbnail', [from, requester], signal);
      memory.put({ fingerprint: from.fingerprint, name: thumbnailName }, jpeg);
      return jpeg;
    },
    fill(from, reason) {
      caller.call('fill', [from, reason]).catch(() => {}); // without prerendering, tiles are rendered on request
    },
    inspect: (location, signal, requester = null) => caller.call('inspect', [location, requester], signal),
    group: (folder, names, signal) => caller.call('group', [folder, names], signal),
    figures: () => ({
      memoryBytes: memory.bytes(),
      diskBytes: 0,
      foundInMemory,
      foundOnDisk: 0,
      queueLength: 0,
      isFull: false,
      faults: 0,
    }),
    close: async () => {},
  };
}
