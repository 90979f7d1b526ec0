/**
 * Pictures of a slide that its file does not have as they are asked for: those that were made and kept, and the making
 * of the others, in processes that a bad file may bring down.
 */
import os from 'node:os';
import path from 'node:path';
import {
  type Allocate,
  type DeepZoomAddress,
  type FolderLocation,
  type ObjectReader,
  type SlideGroup,
  type SlideLocation,
  type SlideSummary,
  TileMaker,
} from '@lamina/slide';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import { type MadeFrom, tileNameIn } from './made-from.ts';
import { createTileCache, type TileCacheFigures } from './tile-cache.ts';
import { createTileFiller, type FillReason } from './tile-filler.ts';
import type { TileKey } from './tile-memory.ts';

export interface MadeTiles {
  /** From memory or disk; null when it would have to be made. */
  kept(key: TileKey, allocate?: Allocate): Promise<Uint8Array | null>;
  /** @throws SlideError what opening, reading and decoding throw; FILE_CHANGED, BUSY, DECODE_FAILED */
  tile(from: MadeFrom, address: DeepZoomAddress, signal: AbortSignal): Promise<MadeTile>;
  /** The whole slide, at most 256 pixels a side. @throws SlideError as `tile` does */
  thumbnail(from: MadeFrom, signal: AbortSignal): Promise<Uint8Array>;
  /** Makes what the file does not have, while nobody is looking and as far as there is room (tile-filler.ts). */
  fill(from: MadeFrom, reason: FillReason): void;
  /** @throws SlideError what opening throws; BUSY, DECODE_FAILED */
  inspect(location: SlideLocation, signal?: AbortSignal): Promise<SlideSummary>;
  /** @throws SlideError BUSY, DECODE_FAILED */
  group(
    folder: FolderLocation,
    names: readonly string[],
    signal: AbortSignal,
  ): Promise<readonly SlideGroup[]>;
  /** Of this process alone. */
  figures(): MadeTilesFigures;
  close(): Promise<void>;
}

export interface MadeTile {
  /** Complete. */
  readonly jpeg: Uint8Array;
  /** It had been made before. */
  readonly wasKept: boolean;
}

export interface MadeTilesFigures extends TileCacheFigures {
  /** Jobs that wait for a process. */
  readonly queueLength: number;
  /** No more may wait. */
  readonly isFull: boolean;
  /** Processes that a job brought down, or that took too long over one. */
  readonly faults: number;
}

const thumbnailSide = 256;
/** Names the picture among those of its slide. */
export const thumbnailName = `thumbnail-${thumbnailSide}`;

/** What has just been made, until it is on the disk, and where nothing is kept there. */
const memoryCacheBytes = 64 * 1024 * 1024;
/**
 * Tiles that may wait: a viewer asks for some twenty at a time, and a hundred who open slides at the same moment wait a few
 * seconds rather than being turned away. Whoever leaves takes what he waited for out of it.
 */
const queueLimit = 2048;
const jobTimeoutMs = 15_000;

export function createMadeTiles({
  config,
  log,
  objects,
}: {
  readonly config: Config;
  readonly log: Logger;
  /** Through which the slides of the bucket are read; null where there is none. */
  readonly objects: ObjectReader | null;
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
    scratchFolder: path.join(config.dataDir, 'scratch'), // the only place that is sure to be writable, and on a disk
    objects,
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
  ): Promise<MadeTile> {
    const key = { fingerprint, name };
    const kept = await cache.get(key);
    if (kept !== null) return { jpeg: kept, wasKept: true };
    const jpeg = await make({ ...location, fingerprint });
    cache.put(key, jpeg);
    return { jpeg, wasKept: false };
  }

  return {
    kept: (key, allocate) => cache.get(key, allocate),
    tile: (from, address, signal) =>
      keptOrMade(from, tileNameIn(address), (expected) => maker.tile(expected, address, signal)),
    async thumbnail(from, signal) {
      const make = (expected: SlideLocation) => maker.thumbnail(expected, thumbnailSide, signal);
      return (await keptOrMade(from, thumbnailName, make)).jpeg;
    },
    fill: (from, reason) => filler.fill(from, reason),
    inspect: (location, signal) => maker.inspect(location, signal),
    group: (folder, names, signal) => maker.group(folder, names, [], signal),
    figures() {
      const { queueLength, faults } = maker;
      return { ...cache.figures(), queueLength, isFull: queueLength >= queueLimit, faults };
    },
    async close() {
      await filler.close();
      await maker.close();
      await cache.close();
    },
  };
}
