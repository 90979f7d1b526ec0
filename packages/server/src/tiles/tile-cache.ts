/**
 * Caches rendered tiles in memory and on disk; both have a limit in bytes. Tiles that are read from the disk are not copied to
 * the memory cache, because the operating system caches files better.
 *
 * A key begins with the slide's fingerprint, so a tile of a replaced file is never found again. The cache evicts the oldest
 * tiles of the least recently used slide first. The disk cache survives a restart.
 */
import path from 'node:path';
import { type Allocate, cacheOpenFiles, SlideError } from '@lamina/slide';
import type { Logger } from 'pino';
import { type NamedTile, namesIn, openTileDiskCache, type TileDiskCache } from './tile-disk-cache.ts';
import { createTileMemoryCache, type TileKey } from './tile-memory-cache.ts';

export interface TileCache {
  /** @param allocate supplies the memory that a tile on the disk is read into */
  get(key: TileKey, allocate?: Allocate): Promise<Uint8Array | null>;
  /** Returns whether `get` would find the tile. */
  has(key: TileKey): Promise<boolean>;
  /** Caches a complete JPEG in memory at once, and writes it to the disk within about half a second. */
  put(key: TileKey, jpeg: Uint8Array): void;
  /** Caches a prerendered tile on the disk only: no request has needed it yet. */
  putAside(key: TileKey, jpeg: Uint8Array): void;
  /** Returns how many bytes fit into the disk cache without an eviction. */
  freeBytes(): number;
  figures(): TileCacheFigures;
  /** Resolves when all cached tiles are on the disk and the disk cache is within its limit. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

export interface TileCacheFigures {
  readonly memoryBytes: number;
  readonly diskBytes: number;
  /** Number of tiles that `get` has found in memory, and on disk. */
  readonly foundInMemory: number;
  readonly foundOnDisk: number;
}

interface TileCacheOptions {
  readonly folder: string;
  readonly maxDiskBytes: number;
  readonly maxMemoryBytes: number;
  readonly log: Logger;
}

/** An eviction frees space until this share of the limit is used, so that evictions are rare. */
const shareAfterEviction = 0.9;
/** Maximum size of all tiles that wait to be written to the disk; further tiles are cached in memory only. */
const maxWaitingBytes = 16 * 1024 * 1024;
/** Tiles are collected for this time and written together, because opening a file takes longer than writing a tile. */
const collectMs = 500;
/** Collected tiles are written earlier when they reach this size. */
const collectedBytesLimit = maxWaitingBytes / 4;
/** Maximum size of one file of the disk cache; less when the disk cache itself is very small. */
const maxFileBytes = 8 * 1024 * 1024;
const maxOpenFiles = 64;
const allocateNew: Allocate = (byteCount) => new Uint8Array(byteCount);

export function createTileCache({ folder, maxDiskBytes, maxMemoryBytes, log }: TileCacheOptions): TileCache {
  const memory = createTileMemoryCache(maxMemoryBytes);
  /** Disk caches by the fingerprint of their slide. */
  const diskCaches = new Map<string, Promise<TileDiskCache>>();
  let diskBytes = 0;
  let foundInMemory = 0;
  let foundOnDisk = 0;
  let waitingTiles = new Map<string, NamedTile[]>();
  let waitingBytes = 0;
  /** Ends the time in which tiles are collected for the next write. */
  let writeNow = () => {};
  let isClosing = false;

  const folderOf = (fingerprint: string) => path.join(folder, fingerprint.slice(0, 2), fingerprint);
  const files = cacheOpenFiles(maxOpenFiles);

  // Disk work is serial: open the existing disk caches, then write and evict.
  let diskWork: Promise<void> = openExisting().catch(warn);

  function warn(error: unknown): void {
    log.warn({ err: error }, 'tile cache write failed; tiles are served without being cached');
  }

  function diskCacheOf(fingerprint: string): Promise<TileDiskCache> {
    const cachedTile = diskCaches.get(fingerprint);
    if (cachedTile !== undefined) return cachedTile;
    const diskCache = openTileDiskCache({
      folder: folderOf(fingerprint),
      maxFileBytes: Math.min(maxFileBytes, maxDiskBytes / 16),
      files,
    }).then((opened) => {
      diskBytes += opened.bytes;
      return opened;
    });
    diskCaches.set(fingerprint, diskCache);
    diskCache.catch(() => diskCaches.delete(fingerprint));
    return diskCache;
  }

  /** Runs `work` and counts how it changes the bytes of the disk cache, also when it fails. */
  async function changeBytes(diskCache: TileDiskCache, work: () => Promise<void>): Promise<void> {
    diskBytes -= diskCache.bytes;
    try {
      await work();
    } finally {
      diskBytes += diskCache.bytes;
    }
  }

  async function openExisting(): Promise<void> {
    for (const group of await namesIn(folder)) {
      for (const fingerprint of await namesIn(path.join(folder, group))) {
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
      await changeBytes(diskCache, () => diskCache.append(tiles));
      await evict();
    }
  }

  /** Removes the oldest tiles of the least recently used slide, then of the next one, until the limit is met. */
  async function evict(): Promise<void> {
    if (diskBytes <= maxDiskBytes) return;
    const leastRecentFirst = (await Promise.all(diskCaches.values())).sort((a, b) => a.usedAt - b.usedAt);
    for (const diskCache of leastRecentFirst) {
      while (diskCache.bytes > 0) {
        if (diskBytes <= maxDiskBytes * shareAfterEviction) return;
        await changeBytes(diskCache, () => diskCache.evictOldest());
      }
    }
  }

  async function readFromDisk(
    { fingerprint, name }: TileKey,
    allocate: Allocate,
  ): Promise<Uint8Array | null> {
    try {
      const diskCache = await diskCacheOf(fingerprint);
      const jpeg = await diskCache.read(name, allocate);
      if (jpeg !== null) diskCache.usedAt = Date.now();
      return jpeg;
    } catch (error) {
      // A SlideError means that the file was evicted meanwhile or was truncated by a power failure.
      if (!(error instanceof SlideError))
        log.warn(
          { err: error, fingerprint, tile: name },
          'tile cache read failed; the tile is rendered again',
        );
      return null;
    }
  }

  /** Resolves after `gatherMs`, or when `writeNow` is called. */
  function waitForBatch(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, collectMs);
      writeNow = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  function queueWrite({ fingerprint, name }: TileKey, jpeg: Uint8Array): void {
    if (isClosing || maxDiskBytes === 0 || waitingBytes + jpeg.byteLength > maxWaitingBytes) return;
    if (waitingTiles.size === 0) {
      const ready = waitForBatch();
      diskWork = diskWork.then(() => ready.then(writeWaiting)).catch(warn);
    }
    waitingBytes += jpeg.byteLength;
    if (waitingBytes > collectedBytesLimit) writeNow();
    const tiles = waitingTiles.get(fingerprint) ?? [];
    waitingTiles.set(fingerprint, tiles);
    tiles.push({ name, jpeg });
  }

  return {
    async get(key, allocate = allocateNew) {
      const cachedTile = memory.get(key);
      if (cachedTile !== null) {
        foundInMemory++;
        return cachedTile;
      }
      const jpeg = await readFromDisk(key, allocate);
      if (jpeg !== null) foundOnDisk++;
      return jpeg;
    },

    async has(key) {
      return memory.get(key) !== null || (await diskCacheOf(key.fingerprint)).has(key.name);
    },

    put(key, jpeg) {
      if (memory.get(key) === jpeg) return; // several requests waited for the same tile
      memory.put(key, jpeg);
      queueWrite(key, jpeg);
    },

    putAside: queueWrite,

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
      await files.close();
    },
  };
}
