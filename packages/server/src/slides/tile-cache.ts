/**
 * Tiles that had to be made, kept: in memory, then on the disk, each bounded by its bytes. What is read from the disk is
 * not kept in memory as well: the system does that with files, and better.
 *
 * A key begins with the slide's fingerprint, so a tile of a file that was replaced is never found again;
 * the oldest ones of the slide that was longest out of use go first. What is on the disk survives a restart.
 */
import path from 'node:path';
import { type Allocate, keepFilesOpen, SlideError } from '@lamina/slide';
import type { Logger } from 'pino';
import { createTileMemory, type TileKey } from './tile-memory.ts';
import { type NamedTile, namesIn, openTileShelf, type TileShelf } from './tile-shelf.ts';

export interface TileCache {
  /** @param allocate where it may be put */
  get(key: TileKey, allocate?: Allocate): Promise<Uint8Array | null>;
  /** Whether `get` would find it, without reading it. */
  has(key: TileKey): Promise<boolean>;
  /** A complete JPEG. Kept in memory at once; written to the disk behind. */
  put(key: TileKey, jpeg: Uint8Array): void;
  /** The same, for the disk alone: nobody has asked for it yet. */
  putAside(key: TileKey, jpeg: Uint8Array): void;
  /** What the disk may still take before something has to go. */
  freeBytes(): number;
  figures(): TileCacheFigures;
  /** Resolves when everything that was put is on the disk and the disk is within its bound. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

export interface TileCacheFigures {
  readonly memoryBytes: number;
  readonly diskBytes: number;
  /** How often `get` has found what it was asked for, and where. */
  readonly foundInMemory: number;
  readonly foundOnDisk: number;
}

interface Plan {
  readonly folder: string;
  readonly maxDiskBytes: number;
  readonly maxMemoryBytes: number;
  readonly log: Logger;
}

/** Making room goes this far, so that it is seldom needed. */
const roomShare = 0.9;
/** Tiles waiting to be written take this much memory at most; beyond it they stay where they are. */
const maxWaitingBytes = 16 * 1024 * 1024;
/** Tiles come one by one, and opening a file costs more than writing one: what comes within this time is written at once. */
const gatherMs = 500;
const gatheredBytes = maxWaitingBytes / 4;
/** Of one file, unless the bound is so small that this would be most of it. */
const mostFileBytes = 8 * 1024 * 1024;
const mostOpenFiles = 64;
const ownMemory: Allocate = (byteCount) => new Uint8Array(byteCount);

export function createTileCache({ folder, maxDiskBytes, maxMemoryBytes, log }: Plan): TileCache {
  const memory = createTileMemory(maxMemoryBytes);
  const shelves = new Map<string, Promise<TileShelf>>();
  let diskBytes = 0;
  let foundInMemory = 0;
  let foundOnDisk = 0;
  let waiting = new Map<string, NamedTile[]>();
  let waitingBytes = 0;
  /** Ends the time in which tiles are gathered. */
  let writeNow = () => {};
  let isClosing = false;

  const shelfFolder = (fingerprint: string) => path.join(folder, fingerprint.slice(0, 2), fingerprint);
  const files = keepFilesOpen(mostOpenFiles);

  // One after the other: counting what is there, then writing, then making room.
  let diskWork: Promise<void> = countWhatIsThere().catch(warn);

  function warn(error: unknown): void {
    log.warn({ err: error }, 'made tiles could not be kept on the disk');
  }

  function shelfOf(fingerprint: string): Promise<TileShelf> {
    const known = shelves.get(fingerprint);
    if (known !== undefined) return known;
    const shelf = openTileShelf({
      folder: shelfFolder(fingerprint),
      mostFileBytes: Math.min(mostFileBytes, maxDiskBytes / 16),
      files,
    }).then((opened) => {
      diskBytes += opened.bytes;
      return opened;
    });
    shelves.set(fingerprint, shelf);
    shelf.catch(() => shelves.delete(fingerprint));
    return shelf;
  }

  /** Does something with what a shelf takes on the disk, and counts what that changes, also when it fails. */
  async function changeBytes(shelf: TileShelf, work: () => Promise<void>): Promise<void> {
    diskBytes -= shelf.bytes;
    try {
      await work();
    } finally {
      diskBytes += shelf.bytes;
    }
  }

  async function countWhatIsThere(): Promise<void> {
    for (const group of await namesIn(folder)) {
      for (const fingerprint of await namesIn(path.join(folder, group))) {
        if (isClosing) return;
        await shelfOf(fingerprint);
      }
    }
    await makeRoom();
  }

  async function writeWaiting(): Promise<void> {
    const batches = waiting;
    waiting = new Map();
    waitingBytes = 0;
    for (const [fingerprint, tiles] of batches) {
      const shelf = await shelfOf(fingerprint);
      shelf.usedAt = Date.now();
      await changeBytes(shelf, () => shelf.append(tiles));
      await makeRoom();
    }
  }

  /** Removes the oldest tiles of the slide that was longest out of use, then of the next one. */
  async function makeRoom(): Promise<void> {
    if (diskBytes <= maxDiskBytes) return;
    const longestUnused = (await Promise.all(shelves.values())).sort((a, b) => a.usedAt - b.usedAt);
    for (const shelf of longestUnused) {
      while (shelf.bytes > 0) {
        if (diskBytes <= maxDiskBytes * roomShare) return;
        await changeBytes(shelf, () => shelf.dropOldest());
      }
    }
  }

  async function read({ fingerprint, name }: TileKey, allocate: Allocate): Promise<Uint8Array | null> {
    try {
      const shelf = await shelfOf(fingerprint);
      const jpeg = await shelf.read(name, allocate);
      if (jpeg !== null) shelf.usedAt = Date.now();
      return jpeg;
    } catch (error) {
      // Removed meanwhile to make room, or cut short by a failure.
      if (!(error instanceof SlideError)) log.warn({ err: error }, 'a kept tile could not be read');
      return null;
    }
  }

  function gathered(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, gatherMs);
      writeNow = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  function write({ fingerprint, name }: TileKey, jpeg: Uint8Array): void {
    if (isClosing || maxDiskBytes === 0 || waitingBytes + jpeg.byteLength > maxWaitingBytes) return;
    if (waiting.size === 0) {
      const ready = gathered();
      diskWork = diskWork.then(() => ready.then(writeWaiting)).catch(warn);
    }
    waitingBytes += jpeg.byteLength;
    if (waitingBytes > gatheredBytes) writeNow();
    const tiles = waiting.get(fingerprint) ?? [];
    waiting.set(fingerprint, tiles);
    tiles.push({ name, jpeg });
  }

  return {
    async get(key, allocate = ownMemory) {
      const known = memory.get(key);
      if (known !== null) {
        foundInMemory++;
        return known;
      }
      const jpeg = await read(key, allocate);
      if (jpeg !== null) foundOnDisk++;
      return jpeg;
    },

    async has(key) {
      return memory.get(key) !== null || (await shelfOf(key.fingerprint)).has(key.name);
    },

    put(key, jpeg) {
      if (memory.get(key) === jpeg) return; // several waited for the same tile
      memory.put(key, jpeg);
      write(key, jpeg);
    },

    putAside: write,

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
