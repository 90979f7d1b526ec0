/**
 * Tiles, views (rectangles of a slide at any size) and thumbnails that the slide's file does not contain. They come from the tile
 * cache, or a render worker renders them. A render worker is a separate process, because a malformed file may crash it.
 */
import os from 'node:os';
import path from 'node:path';
import {
  type BufferAllocator,
  type ColourProfile,
  type DeepZoomAddress,
  type FolderLocation,
  type ObjectReader,
  RenderPool,
  type RenderPoolOptions,
  type Requester,
  type SlideGroup,
  type SlideLocation,
  type SlideSummary,
  type TileColour,
  type View,
} from '@lamina/slide';
import type { Logger } from 'pino';
import type { Config } from '../platform/config.ts';
import { slideRoots } from '../slide-storage/slide-roots.ts';
import { warnWhenUnconfined } from './hide-environment.ts';
import { type RenderSource, type TileClient, tileNameIn, viewName } from './render-source.ts';
import { createTileCache, type TileCacheFigures } from './tile-cache.ts';
import { createTilePrerenderer, type PrerenderReason } from './tile-prerenderer.ts';

export interface RenderedTiles {
  /** Returns a cached or newly rendered tile. @throws SlideError FILE_CHANGED, BUSY, DECODE_FAILED, or from reading the file */
  tile(
    source: RenderSource,
    address: DeepZoomAddress,
    client: TileClient,
    options?: RenderedTileOptions,
  ): Promise<RenderedTile>;
  /** Returns a JPEG or PNG of the view. @throws SlideError as `tile` does */
  view(source: RenderSource, view: View, client: TileClient): Promise<Uint8Array>;
  /** Returns the description of the colour profile; null when the slide has none. @throws SlideError as `tile` does */
  colourProfile(source: RenderSource, requester: Requester): Promise<ColourProfile | null>;
  /**
   * Returns the colour table (sRGB colours on a grid of scanned colours) as gzip; null without a usable profile.
   *
   * @throws SlideError as `tile` does
   */
  colourTable(source: RenderSource, requester: Requester): Promise<Uint8Array | null>;
  /** Returns the whole slide in sRGB as a JPEG of at most 256 pixels a side. @throws SlideError as `tile` does */
  thumbnail(source: RenderSource, signal: AbortSignal, requester: Requester): Promise<Uint8Array>;
  /** Starts a render worker if none runs, so that the next tile does not wait for its start. */
  startWorker(): void;
  /** Queues the slide for prerendering (tile-prerenderer.ts). */
  queuePrerendering(source: RenderSource, reason: PrerenderReason): void;
  /**
   * Reads the header of a slide.
   *
   * @param requester null when the server itself needs the header
   * @throws SlideError BUSY, DECODE_FAILED, or from opening the file
   */
  inspect(location: SlideLocation, signal?: AbortSignal, requester?: Requester | null): Promise<SlideSummary>;
  /** Groups the files of a folder into slides by their contents. @throws SlideError BUSY, DECODE_FAILED */
  group(
    folder: FolderLocation,
    names: readonly string[],
    signal: AbortSignal,
  ): Promise<readonly SlideGroup[]>;
  figures(): RenderedTilesFigures;
  close(): Promise<void>;
}

export interface RenderedTileOptions {
  /** Supplies the memory that a tile of the disk cache is read into. */
  readonly allocate?: BufferAllocator | undefined;
  /** Default: `scanned`, the colours of the file. */
  readonly colour?: TileColour | undefined;
}

export interface RenderedTile {
  /** A complete JPEG. */
  readonly bytes: Uint8Array;
  readonly wasCached: boolean;
}

export interface RenderedTilesFigures extends TileCacheFigures {
  /** Jobs that wait for a render worker. */
  readonly queueLength: number;
  /** Whether the render queue is full: new jobs are rejected with BUSY. */
  readonly isQueueFull: boolean;
  /** Render workers that crashed or exceeded the time limit of a job. */
  readonly workerFaults: number;
}

const thumbnailSide = 256; // maximum width and height in pixels
/** Name of the thumbnail in the tile cache of its slide. */
export const thumbnailName = `thumbnail-${thumbnailSide}-srgb`;
/** Names in the tile cache of a slide: its colour profile, as JSON, and its colour table. */
const colourNames = { profile: 'colour-profile', table: 'colour-table' } as const;
/** Cached in place of a colour table when the slide has none, so that the server does not look for one again. */
const noTable = Uint8Array.of(0);

/** Size limit of the memory cache. It holds new tiles until they are on the disk; it is the only cache when the disk cache is off. */
const memoryCacheBytes = 64 * 1024 * 1024;
/**
 * Maximum number of waiting jobs. A viewer requests about 20 tiles at a time, so the queue has room for the 2,000 jobs
 * of a hundred viewers who open slides at the same moment. These jobs wait a few seconds. A job leaves the queue when
 * its client disconnects.
 */
const queueLimit = 2048;
/**
 * Maximum number of waiting jobs of one image session (credential for pixels). The viewer of the web app has at most 24
 * open requests. Further jobs are rejected with BUSY (503 with Retry-After), and the web app retries them.
 */
const sessionQueueLimit = 64;
/** Maximum number of waiting jobs of one account in all its image sessions. */
const accountQueueLimit = 256;
/** Time after which the pool ends a render worker that has not finished its job. */
const jobTimeoutMs = 15_000;

export function createRenderedTiles({
  config,
  log,
  objects,
  pool = null,
}: {
  readonly config: Config;
  readonly log: Logger;
  /** Reads the slides of the bucket; null if there is no bucket. */
  readonly objects: ObjectReader | null;
  /** For tests: a pool that several servers share, and that its owner closes. */
  readonly pool?: RenderPool | null;
}): RenderedTiles {
  const cache = createTileCache({
    folder: path.join(config.dataDir, 'tiles'),
    maxDiskBytes: config.tileCacheBytes,
    maxMemoryBytes: memoryCacheBytes,
    log,
  });
  void warnWhenUnconfined(log);
  const renderPool =
    pool ??
    createRenderPool({
      compiledFolder: path.join(config.dataDir, 'compiled'), // V8 compile cache
      scratchFolder: path.join(config.dataDir, 'scratch'), // in the data folder, because other folders may be read-only or in memory
      slideFolders: Object.values(slideRoots(config)),
      ...(objects !== null && { objects }),
    });
  const prerenderer = createTilePrerenderer({ renderPool, cache, maxBytes: config.tileCacheBytes, log });

  /**
   * Returns a tile, a view or a thumbnail from the cache, or renders and caches it. A view may be a PNG. The
   * render pool renders an image only once for concurrent requests.
   *
   * @param render is called with the file's location and required fingerprint, because the render worker opens the file itself
   */
  async function cachedOrRendered(
    { location, fingerprint }: RenderSource,
    name: string,
    render: (fileVersion: SlideLocation & { readonly fingerprint: string }) => Promise<Uint8Array>,
    allocate?: BufferAllocator,
  ): Promise<RenderedTile> {
    const key = { fingerprint, name };
    const cached = await cache.get(key, allocate);
    if (cached !== null) return { bytes: cached, wasCached: true };
    const bytes = await render({ ...location, fingerprint });
    cache.put(key, bytes);
    return { bytes, wasCached: false };
  }

  /** Returns the colour profile or the colour table from the cache, or computes and caches both. */
  async function cachedColour(
    { location, fingerprint }: RenderSource,
    kind: keyof typeof colourNames,
    requester: Requester,
  ): Promise<Uint8Array> {
    const cached = await cache.get({ fingerprint, name: colourNames[kind] });
    if (cached !== null) return cached;
    const signal = undefined; // no cancellation when the client disconnects, because the result is cached
    const { profile, table } = await renderPool.colour({ ...location, fingerprint }, signal, requester);
    const computed = { profile: Buffer.from(JSON.stringify(profile)), table: table ?? noTable };
    cache.putInMemory({ fingerprint, name: colourNames.profile }, computed.profile);
    cache.putInMemory({ fingerprint, name: colourNames.table }, computed.table);
    return computed[kind];
  }

  return {
    tile: (source, address, client, { allocate, colour } = {}) =>
      cachedOrRendered(
        source,
        tileNameIn(address, colour),
        (fileVersion) => renderPool.tile(fileVersion, address, client.signal, client.requester, colour),
        allocate,
      ),
    async view(source, view, client) {
      const render = (fileVersion: SlideLocation) =>
        renderPool.view(fileVersion, view, client.signal, client.requester);
      return (await cachedOrRendered(source, viewName(view), render)).bytes;
    },
    async colourProfile(source, requester) {
      const json = Buffer.from(await cachedColour(source, 'profile', requester)).toString();
      return JSON.parse(json) as ColourProfile | null;
    },
    async colourTable(source, requester) {
      const table = await cachedColour(source, 'table', requester);
      return table.length === noTable.length ? null : table; // a table in gzip is longer than one byte
    },
    async thumbnail(source, signal, requester) {
      const render = (fileVersion: SlideLocation) =>
        renderPool.thumbnail(fileVersion, thumbnailSide, signal, requester);
      return (await cachedOrRendered(source, thumbnailName, render)).bytes;
    },
    startWorker: () => renderPool.startProcess(),
    queuePrerendering: (source, reason) => prerenderer.queue(source, reason),
    inspect: (location, signal, requester) => renderPool.inspect(location, signal, requester),
    group: (folder, names, signal) => renderPool.group(folder, names, [], signal), // only files, no subfolders
    figures() {
      const { queueLength, faults: workerFaults } = renderPool;
      return { ...cache.figures(), queueLength, isQueueFull: queueLength >= queueLimit, workerFaults };
    },
    async close() {
      await prerenderer.close();
      if (pool === null) await renderPool.close();
      await cache.close();
    },
  };
}

/** Creates the pool of render workers. Their number is one less than the number of CPU threads, but at least 2 and at most 4. */
export function createRenderPool(
  options: Pick<RenderPoolOptions, 'compiledFolder' | 'scratchFolder' | 'slideFolders' | 'objects'> & {
    readonly timeoutMs?: number;
  },
): RenderPool {
  // At least two processes, so that one file that is slow to read never delays all tiles.
  const processes = Math.min(4, Math.max(2, os.availableParallelism() - 1));
  return new RenderPool({
    processes,
    queueLimit,
    accountQueueLimit,
    sessionQueueLimit,
    timeoutMs: jobTimeoutMs,
    ...options,
  });
}
