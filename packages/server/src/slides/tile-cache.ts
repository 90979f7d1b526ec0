/**
 * Tiles that had to be made, kept: in memory, then on the disk, each bounded by its bytes.
 *
 * A key begins with the slide's fingerprint, so a tile of a file that was replaced is never found again;
 * the oldest ones of the slide that was longest out of use go first. What is on the disk survives a
 * restart; a file that is cut short counts as missing.
 */
import { randomUUID } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import type { Logger } from 'pino';
import { isNotThere } from './slide-roots.ts';

export interface TileKey {
  /** URL-safe. */
  readonly fingerprint: string;
  /** Letters, digits, `_` and `-`: which picture of the slide. */
  readonly name: string;
}

export interface TileCache {
  get(key: TileKey): Promise<Uint8Array | null>;
  /** The same from memory alone. */
  inMemory(key: TileKey): Uint8Array | null;
  /** A complete JPEG. Kept in memory at once; written to the disk behind. */
  put(key: TileKey, jpeg: Uint8Array): void;
  /** Resolves when everything that was put is on the disk and the disk is within its bound. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

interface Plan {
  readonly folder: string;
  readonly maxDiskBytes: number;
  readonly maxMemoryBytes: number;
  readonly log: Logger;
}

/** What one slide's tiles take on the disk. */
interface Shelf {
  bytes: number;
  /** Milliseconds since the epoch. */
  usedAt: number;
}

/** A file takes whole blocks of the disk. */
const blockBytes = 4096;
/** Making room goes this far, so that it is seldom needed. */
const roomShare = 0.9;
/** Tiles waiting to be written; beyond it they stay in memory alone. */
const maxWaitingWrites = 500;
/** A half-written file this old belongs to nobody. */
const abandonedAfterMs = 10 * 60_000;

export function createTileCache({ folder, maxDiskBytes, maxMemoryBytes, log }: Plan): TileCache {
  const memory = new Map<string, Uint8Array>();
  let memoryBytes = 0;
  const shelves = new Map<string, Shelf>();
  let diskBytes = 0;
  let writesWaiting = 0;
  let isClosing = false;

  const shelfFolder = (fingerprint: string) => path.join(folder, fingerprint.slice(0, 2), fingerprint);
  const fileOf = ({ fingerprint, name }: TileKey) => path.join(shelfFolder(fingerprint), `${name}.jpg`);
  const memoryKey = ({ fingerprint, name }: TileKey) => `${fingerprint}/${name}`;
  const sizeOnDisk = (bytes: number) => Math.ceil(bytes / blockBytes) * blockBytes;

  // One after the other: counting what is there, then writing, then making room.
  let diskWork: Promise<void> = countWhatIsThere().catch((error) => log.warn({ err: error }, notKept));

  function remember(key: string, jpeg: Uint8Array): void {
    const known = memory.get(key);
    if (known !== undefined) memoryBytes -= known.byteLength;
    memory.delete(key); // the order of a Map is the order of use
    memory.set(key, jpeg);
    memoryBytes += jpeg.byteLength;
    for (const [oldest, { byteLength }] of memory) {
      if (memoryBytes <= maxMemoryBytes) break;
      memory.delete(oldest);
      memoryBytes -= byteLength;
    }
  }

  function take(fingerprint: string, bytes: number): void {
    const shelf = shelves.get(fingerprint) ?? { bytes: 0, usedAt: 0 };
    shelf.bytes += bytes;
    shelf.usedAt = Date.now();
    shelves.set(fingerprint, shelf);
    diskBytes += bytes;
  }

  async function countWhatIsThere(): Promise<void> {
    for (const group of await namesIn(folder)) {
      for (const fingerprint of await namesIn(path.join(folder, group))) {
        if (isClosing) return;
        const { bytes, usedAt } = await countShelf(path.join(folder, group, fingerprint));
        take(fingerprint, bytes);
        const shelf = shelves.get(fingerprint);
        if (shelf !== undefined) shelf.usedAt = usedAt;
      }
    }
    await makeRoom();
  }

  async function write(key: TileKey, jpeg: Uint8Array): Promise<void> {
    const file = fileOf(key);
    const halfWritten = path.join(path.dirname(file), `.${randomUUID()}`);
    await fs.mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
    try {
      await fs.writeFile(halfWritten, jpeg, { mode: 0o600 });
      const replaced = await sizeOf(file);
      await fs.rename(halfWritten, file);
      take(key.fingerprint, sizeOnDisk(jpeg.byteLength) - sizeOnDisk(replaced));
    } catch (error) {
      await fs.rm(halfWritten, { force: true });
      throw error;
    }
    await makeRoom();
  }

  /** Removes the oldest tiles of the slide that was longest out of use, then of the next one. */
  async function makeRoom(): Promise<void> {
    if (diskBytes <= maxDiskBytes) return;
    const longestUnused = [...shelves].sort(([, a], [, b]) => a.usedAt - b.usedAt);
    for (const [fingerprint, shelf] of longestUnused) {
      if (diskBytes <= maxDiskBytes * roomShare) return;
      const at = shelfFolder(fingerprint);
      for (const { name, bytes } of await oldestFirst(at)) {
        if (diskBytes <= maxDiskBytes * roomShare) return;
        await fs.rm(path.join(at, name), { force: true });
        shelf.bytes -= sizeOnDisk(bytes);
        diskBytes -= sizeOnDisk(bytes);
      }
      await fs.rm(at, { recursive: true, force: true });
      diskBytes -= shelf.bytes; // what others had removed already
      shelves.delete(fingerprint);
    }
  }

  /** That something of this slide was asked for. */
  function touch(fingerprint: string): void {
    const shelf = shelves.get(fingerprint);
    if (shelf !== undefined) shelf.usedAt = Date.now();
  }

  async function read(key: TileKey): Promise<Uint8Array | null> {
    let jpeg: Uint8Array;
    try {
      jpeg = await fs.readFile(fileOf(key));
    } catch (error) {
      if (!isNotThere(error)) log.warn({ err: error }, 'a kept tile could not be read');
      return null;
    }
    return isWholeJpeg(jpeg) ? jpeg : null;
  }

  return {
    async get(key) {
      const inMemory = memory.get(memoryKey(key));
      const jpeg = inMemory ?? (await read(key));
      if (jpeg === null) return null;
      remember(memoryKey(key), jpeg);
      touch(key.fingerprint);
      return jpeg;
    },

    inMemory(key) {
      const jpeg = memory.get(memoryKey(key));
      if (jpeg === undefined) return null;
      remember(memoryKey(key), jpeg);
      touch(key.fingerprint);
      return jpeg;
    },

    put(key, jpeg) {
      if (memory.get(memoryKey(key)) === jpeg) return; // several waited for the same tile
      remember(memoryKey(key), jpeg);
      if (isClosing || writesWaiting >= maxWaitingWrites || maxDiskBytes === 0) return;
      writesWaiting++;
      diskWork = diskWork
        .then(() => write(key, jpeg))
        .catch((error) => log.warn({ err: error }, notKept))
        .finally(() => {
          writesWaiting--;
        });
    },

    settled: () => diskWork,

    async close() {
      isClosing = true;
      await diskWork;
    },
  };
}

const notKept = 'made tiles could not be kept on the disk';

/** SOI at the start, EOI at the end: a file that a power failure cut short lacks the second. */
function isWholeJpeg(bytes: Uint8Array): boolean {
  return (
    bytes.length > 4 &&
    bytes[0] === 0xff &&
    bytes[1] === 0xd8 &&
    bytes.at(-2) === 0xff &&
    bytes.at(-1) === 0xd9
  );
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await fs.readdir(folder);
  } catch (error) {
    if (isNotThere(error)) return [];
    throw error;
  }
}

/** Also removes what a process that was ended left half-written. */
async function countShelf(folder: string): Promise<Shelf> {
  const shelf: Shelf = { bytes: 0, usedAt: 0 };
  for (const name of await namesIn(folder)) {
    const file = path.join(folder, name);
    const { size, mtimeMs } = await fs.stat(file);
    if (name.startsWith('.')) {
      if (Date.now() - mtimeMs > abandonedAfterMs) await fs.rm(file, { force: true });
      continue;
    }
    shelf.bytes += Math.ceil(size / blockBytes) * blockBytes;
    shelf.usedAt = Math.max(shelf.usedAt, mtimeMs);
  }
  return shelf;
}

async function oldestFirst(folder: string): Promise<{ name: string; bytes: number }[]> {
  const files: { name: string; bytes: number; writtenAt: number }[] = [];
  for (const name of await namesIn(folder)) {
    if (name.startsWith('.')) continue;
    const { size, mtimeMs } = await fs.stat(path.join(folder, name));
    files.push({ name, bytes: size, writtenAt: mtimeMs });
  }
  return files.sort((a, b) => a.writtenAt - b.writtenAt);
}

async function sizeOf(file: string): Promise<number> {
  try {
    return (await fs.stat(file)).size;
  } catch (error) {
    if (isNotThere(error)) return 0;
    throw error;
  }
}
