/**
 * Pictures of a slide that its file does not have as they are asked for: those that were made and kept, and the making
 * of the others, in processes that a bad file may bring down.
 */
import os from 'node:os';
import path from 'node:path';
import {
  type DeepZoomAddress,
  type SlideGroup,
  type SlideLocation,
  type SlideSummary,
  TileMaker,
} from '@lamina/slide';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import { type MadeFrom, tileNameIn } from './made-from.ts';
import { createTileCache } from './tile-cache.ts';
import { createTileFiller, type FillReason } from './tile-filler.ts';
import type { TileKey } from './tile-memory.ts';

export interface MadeTiles {
  /** From memory or disk; null when it would have to be made. */
  kept(key: TileKey): Promise<Uint8Array | null>;
  /** @returns a complete JPEG. @throws SlideError what opening, reading and decoding throw; FILE_CHANGED, BUSY, DECODE_FAILED */
  tile(from: MadeFrom, address: DeepZoomAddress, signal: AbortSignal): Promise<Uint8Array>;
  /** The whole slide, at most 256 pixels a side. @throws SlideError as `tile` does */
  thumbnail(from: MadeFrom, signal: AbortSignal): Promise<Uint8Array>;
  /** Makes what the file does not have, while nobody is looking and as far as there is room (tile-filler.ts). */
  fill(from: MadeFrom, reason: FillReason): void;
  /** @throws SlideError what opening throws; BUSY, DECODE_FAILED */
  inspect(location: SlideLocation, signal?: AbortSignal): Promise<SlideSummary>;
  /** @throws SlideError BUSY, DECODE_FAILED */
  group(folder: string, names: readonly string[], signal: AbortSignal): Promise<readonly SlideGroup[]>;
  close(): Promise<void>;
}

const thumbnailSide = 256;
/** Names the picture among those of its slide. */
export const thumbnailName = `thumbnail-${thumbnailSide}`;

/** A thorough look at one slide makes some 70 MB; what does not fit is read from the disk, in a tenth of a millisecond. */
const memoryCacheBytes = 80 * 1024 * 1024;
/**
 * Tiles that may wait: a viewer asks for some twenty at a time, and a hundred who open slides at the same moment wait a few
 * seconds rather than being turned away. Whoever leaves takes what he waited for out of it.
 */
const queueLimit = 2048;
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
  const maker = new TileMaker({
    processes,
    queueLimit,
    timeoutMs: jobTimeoutMs,
    compiledFolder: path.join(config.dataDir, 'compiled'),
  });
  const filler = createTileFiller({ maker, cache, maxBytes: config.tileCacheBytes, log });

  /**
   * From the cache, else made; the maker makes it once for all who ask at the same time.
   *
   * @param make told what the file must be: the process that makes it opens the file by itself
   */
  async function keptOrMade(
    { location, fingerprint }: MadeFrom,
    name: string,
    make: (expected: SlideLocation & { readonly fingerprint: string }) => Promise<Uint8Array>,
  ): Promise<Uint8Array> {
    const key = { fingerprint, name };
    const kept = await cache.get(key);
    if (kept !== null) return kept;
    const jpeg = await make({ ...location, fingerprint });
    cache.put(key, jpeg);
    return jpeg;
  }

  return {
    kept: (key) => cache.get(key),
    tile: (from, address, signal) =>
      keptOrMade(from, tileNameIn(address), (expected) => maker.tile(expected, address, signal)),
    thumbnail: (from, signal) =>
      keptOrMade(from, thumbnailName, (expected) => maker.thumbnail(expected, thumbnailSide, signal)),
    fill: (from, reason) => filler.fill(from, reason),
    inspect: (location, signal) => maker.inspect(location, signal),
    group: (folder, names, signal) => maker.group(folder, names, [], signal),
    async close() {
      await filler.close();
      await maker.close();
      await cache.close();
    },
  };
}
