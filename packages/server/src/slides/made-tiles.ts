/**
 * Pictures of a slide that its file does not have as they are asked for: those that were made and kept, and the making
 * of the others, in processes that a bad file may bring down.
 */
import os from 'node:os';
import path from 'node:path';
import {
  type DeepZoomAddress,
  fingerprintOf,
  SlideError,
  type SlideGroup,
  type SlideLocation,
  type SlideSummary,
  TileMaker,
} from '@lamina/slide';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import { createTileCache } from './tile-cache.ts';
import type { TileKey } from './tile-memory.ts';

/** The file, and what it was when somebody last looked: a picture of another file is never answered. */
export interface MadeFrom {
  readonly location: SlideLocation;
  readonly fingerprint: string;
}

export interface MadeTiles {
  /** Without a wait; null when it is not there. */
  inMemory(key: TileKey): Uint8Array | null;
  /** From memory or disk; null when it would have to be made. */
  kept(key: TileKey): Promise<Uint8Array | null>;
  /** @returns a complete JPEG. @throws SlideError what opening, reading and decoding throw; FILE_CHANGED, BUSY, DECODE_FAILED */
  tile(from: MadeFrom, address: DeepZoomAddress, signal: AbortSignal): Promise<Uint8Array>;
  /** The whole slide, at most 256 pixels a side. @throws SlideError as `tile` does */
  thumbnail(from: MadeFrom, signal: AbortSignal): Promise<Uint8Array>;
  /** @throws SlideError what opening throws; BUSY, DECODE_FAILED */
  inspect(location: SlideLocation, signal?: AbortSignal): Promise<SlideSummary>;
  /** @throws SlideError BUSY, DECODE_FAILED */
  group(folder: string, names: readonly string[], signal: AbortSignal): Promise<readonly SlideGroup[]>;
  close(): Promise<void>;
}

const thumbnailSide = 256;
/** Names the picture among those of its slide. */
export const thumbnailName = `thumbnail-${thumbnailSide}`;
export const tileNameIn = ({ dziLevel, column, row }: DeepZoomAddress) => `${dziLevel}_${column}_${row}`;

const memoryCacheBytes = 64 * 1024 * 1024;
/** Jobs that may wait; a viewer asks for some twenty tiles at a time. */
const queueLimit = 256;
const jobTimeoutMs = 15_000;

export function createMadeTiles({
  config,
  log,
}: {
  readonly config: Config;
  readonly log: Logger;
}): MadeTiles {
  const cache = createTileCache({
    folder: path.join(config.dataDir, 'tiles'),
    maxDiskBytes: config.tileCacheBytes,
    maxMemoryBytes: memoryCacheBytes,
    log,
  });
  // Two at least, so that a file that is slow to read never holds up all tiles.
  const processes = Math.min(4, Math.max(2, os.availableParallelism() - 1));
  const maker = new TileMaker({ processes, queueLimit, timeoutMs: jobTimeoutMs });

  /** From the cache, else made; the maker makes it once for all who ask at the same time. */
  async function keptOrMade(
    { location, fingerprint }: MadeFrom,
    name: string,
    make: () => Promise<Uint8Array>,
  ): Promise<Uint8Array> {
    const key = { fingerprint, name };
    const kept = await cache.get(key);
    if (kept !== null) return kept;
    const jpeg = await make();
    // The process opens the file by itself: what it read must be what this key names.
    if ((await fingerprintOf(location)) !== fingerprint) {
      throw new SlideError('FILE_CHANGED', 'The file was replaced while it was read.');
    }
    cache.put(key, jpeg);
    return jpeg;
  }

  return {
    inMemory: (key) => cache.inMemory(key),
    kept: (key) => cache.get(key),
    tile: (from, address, signal) =>
      keptOrMade(from, tileNameIn(address), () => maker.tile(from.location, address, signal)),
    thumbnail: (from, signal) =>
      keptOrMade(from, thumbnailName, () => maker.thumbnail(from.location, thumbnailSide, signal)),
    inspect: (location, signal) => maker.inspect(location, signal),
    group: (folder, names, signal) => maker.group(folder, names, [], signal),
    async close() {
      await maker.close();
      await cache.close();
    },
  };
}
