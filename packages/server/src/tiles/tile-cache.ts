/**
 * The cache of rendered tiles: one cache in memory and one on disk, each with a limit in bytes. The memory cache holds new tiles. A
 * tile that is read from the disk is not copied to the memory cache, because the operating system already caches files.
 *
 * The key of a tile contains the fingerprint of its slide file, which changes with the file: tiles of a replaced file
 * are never returned. When the disk cache is full, it evicts the oldest tiles of the least recently used slide first.
 * The disk cache survives a restart.
 */
import path from 'node:path';
import { type BufferAllocator, createOpenFiles, SlideError } from '@lamina/slide';
import type { Logger } from 'pino';
import { type NamedTile, namesIn, openTileDiskCache, type TileDiskCache } from './tile-disk-cache.ts';
import { createTileMemoryCache, type TileKey } from './tile-memory-cache.ts';

export interface TileCache {
  /** Returns a tile; null when it is not cached. @param allocate supplies the memory that a tile is read into from the disk */
  get(key: TileKey, allocate?: BufferAllocator): Promise<Uint8Array | null>;
  /** Returns the size of a cached tile in bytes; null when it is not cached. */
  sizeOf(key: TileKey): Promise<number | null>;
  /**
   * Caches a tile in memory at once, and writes it to the disk within about half a second, unless the disk cache is off or too
   * many bytes wait to be written. The disk cache returns only complete JPEG and PNG images.
   */
  put(key: TileKey, bytes: Uint8Array): void;
  /** Caches bytes in memory only: the disk cache takes data other than JPEG and PNG for incomplete images. */
  putInMemory(key: TileKey, bytes: Uint8Array): void;
  /** Like `put`, but caches on the disk only: no request has needed the prerendered tile yet. */
  putOnDisk(key: TileKey, bytes: Uint8Array): void;
  /** Returns the number of bytes that fit into the disk cache without an eviction. */
  freeBytes(): number;
  figures(): TileCacheFigures;
  /** Resolves when all cached tiles are on the disk and the disk cache is within its limit. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

export interface TileCacheFigures {
  readonly memoryBytes: number;
  readonly diskBytes: number;
  /** Number of tiles that `get` has found in memory since the start. */
  readonly foundInMemory: number;
  /** Number of tiles that `get` has found on the disk since the start. */
  readonly foundOnDisk: number;
}

interface TileCacheOptions {
  readonly folder: string;
  /** 0: nothing is cached on the disk. */
  readonly maxDiskBytes: number;
  readonly maxMemoryBytes: number;
  readonly log: Logger;
}

/** An eviction removes tiles until at most this share of the limit is used, so that evictions are rare. */
const shareAfterEviction = 0.9;
/** Maximum size of all tiles that wait to be written to the disk; further tiles are cached in memory only. */
const maxWaitingBytes = 16 * 1024 * 1024;
/** Waiting tiles are collected for this time and written together, because opening a file takes longer than writing a tile. */
const collectMs = 500;
/** Waiting tiles are written before `collectMs` has passed when their size exceeds this limit. */
const collectedBytesLimit = maxWaitingBytes / 4;
/** Maximum size of one file of the disk cache. An eviction removes whole files, so a small disk cache gets smaller files. */
const maxFileBytes = 8 * 1024 * 1024;
/** Maximum number of files of the disk cache that are open for reading. */
const maxOpenFiles = 64;
const allocateNew: BufferAllocator = (byteCount) => new Uint8Array(byteCount);

export function createTileCache({ folder, maxDiskBytes, maxMemoryBytes, log }: TileCacheOptions): TileCache {
  const memory = createTileMemoryCache(maxMemoryBytes);
  /** Disk caches by the fingerprint of their slide. */
  const diskCaches = new Map<string, Promise<TileDiskCache>>();
  let diskBytes = 0;
  let foundInMemory = 0;
  let foundOnDisk = 0;
  /** Tiles that wait to be written to the disk, by the fingerprint of their slide. */
  let waitingTiles = new Map<string, NamedTile[]>();
  let waitingBytes = 0;
  /** Ends the wait of `waitForBatch` early; does nothing when no tiles are collected. */
  let writeNow = () => {};
  let isClosing = false;

  const folderOf = (fingerprint: string) => path.join(folder, fingerprint.slice(0, 2), fingerprint);
  const files = createOpenFiles(maxOpenFiles);

  /** The last disk task. Tasks run one after another: first the existing disk caches are opened, then tiles are written and evicted. */
  let diskWork: Promise<void> = openExisting().catch(warn);

  function warn(error: unknown): void {
    log.warn(
      { err: error, folder },
      'tile disk cache failed; the affected tiles are cached in memory only, further tiles are written to the disk again',
    );
  }

  function diskCacheOf(fingerprint: string): Promise<TileDiskCache> {
    const existing = diskCaches.get(fingerprint);
    if (existing !== undefined) return existing;
    const diskCache = openTileDiskCache({
      folder: folderOf(fingerprint),
      maxFileBytes: Math.min(maxFileBytes, maxDiskBytes / 16), // small, because whole files are evicted
      files,
    }).then((opened) => {
      diskBytes += opened.bytes;
      return opened;
    });
    diskCaches.set(fingerprint, diskCache);
    diskCache.catch(() => diskCaches.delete(fingerprint));
    return diskCache;
  }

  /** Runs `work`, which changes the disk cache, and updates `diskBytes` by the change of its size, even when `work` fails. */
  async function trackBytes(diskCache: TileDiskCache, work: () => Promise<void>): Promise<void> {
    diskBytes -= diskCache.bytes;
    try {
      await work();
    } finally {
      diskBytes += diskCache.bytes;
    }
  }

  /** Opens the disk caches of an earlier run, because their size counts against the limit. */
  async function openExisting(): Promise<void> {
    for (const prefix of await namesIn(folder)) {
      for (const fingerprint of await namesIn(path.join(folder, prefix))) {
        if (isClosing) return;
        await diskCacheOf(fingerprint);
      }
    }
    await evict();
  }

  async function writeWaiting(): Promise<void> {
    const batches = waitingTiles;
    waitingTiles = new Map();
    waitingBytes = 0;
    for (const [fingerprint, tiles] of batches) {
      const diskCache = await diskCacheOf(fingerprint);
      diskCache.usedAt = Date.now();
      await trackBytes(diskCache, () => diskCache.append(tiles));
      await evict();
    }
  }

  /** When the limit is exceeded, removes the oldest tiles of the least recently used slide, then those of the next slide, and so on. */
  async function evict(): Promise<void> {
    if (diskBytes <= maxDiskBytes) return;
    const leastRecentFirst = (await Promise.all(diskCaches.values())).sort((a, b) => a.usedAt - b.usedAt);
    for (const diskCache of leastRecentFirst) {
      while (diskCache.bytes > 0) {
        if (diskBytes <= maxDiskBytes * shareAfterEviction) return;
        await trackBytes(diskCache, () => diskCache.evictOldest());
      }
    }
  }

  async function readFromDisk(
    { fingerprint, name }: TileKey,
    allocate: BufferAllocator,
  ): Promise<Uint8Array | null> {
    try {
      const diskCache = await diskCacheOf(fingerprint);
      const bytes = await diskCache.read(name, allocate);
      if (bytes !== null) diskCache.usedAt = Date.now();
      return bytes;
    } catch (error) {
      // A SlideError means that the file was evicted during the read, or that a power failure has truncated it.
      if (!(error instanceof SlideError))
        log.warn(
          { err: error, fingerprint, tile: name },
          'tile cache read failed for the slide with this fingerprint; the tile is rendered again',
        );
      return null;
    }
  }

  /** Resolves after `collectMs`, or when `writeNow` is called. */
  function waitForBatch(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, collectMs);
      writeNow = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Adds a tile to those that wait to be written. Drops it when too many bytes wait, when the disk cache is off, and while closing. */
  function queueWrite({ fingerprint, name }: TileKey, bytes: Uint8Array): void {
    if (isClosing || maxDiskBytes === 0 || waitingBytes + bytes.byteLength > maxWaitingBytes) return;
    if (waitingTiles.size === 0) {
      const batchReady = waitForBatch();
      diskWork = diskWork.then(() => batchReady.then(writeWaiting)).catch(warn);
    }
    waitingBytes += bytes.byteLength;
    if (waitingBytes > collectedBytesLimit) writeNow();
    const tiles = waitingTiles.get(fingerprint) ?? [];
    waitingTiles.set(fingerprint, tiles);
    tiles.push({ name, bytes });
  }

  return {
    async get(key, allocate = allocateNew) {
      const cachedTile = memory.get(key);
      if (cachedTile !== null) {
        foundInMemory++;
        return cachedTile;
      }
      const bytes = await readFromDisk(key, allocate);
      if (bytes !== null) foundOnDisk++;
      return bytes;
    },

    async sizeOf(key) {
      return memory.get(key)?.byteLength ?? (await diskCacheOf(key.fingerprint)).sizeOf(key.name);
    },

    put(key, bytes) {
      if (memory.get(key) === bytes) return; // the tile was rendered once for several requests, and each of them calls `put`
      memory.put(key, bytes);
      queueWrite(key, bytes);
    },

    putInMemory: (key, bytes) => memory.put(key, bytes),

    putOnDisk: queueWrite,

    freeBytes: () => Math.max(0, maxDiskBytes - diskBytes - waitingBytes),

    figures: () => ({ memoryBytes: memory.bytes(), diskBytes, foundInMemory, foundOnDisk }),

    settled() {
      writeNow();
      return diskWork;
    },

    async close() {
      isClosing = true;
      writeNow();
      await diskWork;
      await files.closeAll();
    },
  };
}
