/**
 * Blocks of objects on the disk: a file for each, which several processes of a machine may share.
 *
 * A block is written beside its place and moved there, so none is ever seen in part; its checksum stands before it, for
 * after a power failure a file may hold anything. Nothing is synced: what is lost is read from the store again.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, rmdir, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';

export interface BlockShelf {
  /** Null when it is not there, or not whole. */
  read(fingerprint: string, index: number): Promise<Uint8Array | null>;
  /** Written behind, and not at all while too much waits or the disk refuses. */
  put(fingerprint: string, index: number, block: Uint8Array): void;
  /** Resolves when everything that was put is on the disk, and the disk within its bound. */
  settled(): Promise<void>;
}

interface Plan {
  /** Made when the first block is written. */
  readonly folder: string;
  /** Of all blocks there, whoever wrote them; each process may be a thirty-second part above it for a while. */
  readonly maxBytes: number;
  /** Told once when the disk refuses, until it takes blocks again. */
  readonly warn: (error: unknown) => void;
}

const CHECKSUM_BYTES = 4;
/** Blocks waiting to be written take this much memory at most. */
const MOST_WAITING_BYTES = 16 * 2 ** 20;
/** What is on the disk is looked through again after so much of the bound has been written. */
const LOOK_AFTER_SHARE = 1 / 32;
/** Making room goes this far. */
const ROOM_SHARE = 0.9;
/** A block that is used has its time set anew, but no oftener: it is what is longest out of use that goes. */
const TOUCH_AFTER_MS = 10 * 60_000;
/** Whoever left a half-written file so long ago has ended. */
const ABANDONED_AFTER_MS = 60 * 60_000;
/** The disk refused: left alone for so long. */
const REFUSED_FOR_MS = 10_000;

export function createBlockShelf({ folder, maxBytes, warn }: Plan): BlockShelf {
  let waitingBytes = 0;
  let writtenBytes = 0;
  let refusedUntil = 0;
  // One after the other: looking what is there, then writing, then looking again.
  let work: Promise<void> = makeRoom().catch(refused);

  const folderOf = (fingerprint: string) => join(folder, fingerprint.slice(0, 2), fingerprint);

  function refused(error: unknown): void {
    if (refusedUntil === 0) warn(error);
    refusedUntil = performance.now() + REFUSED_FOR_MS;
  }

  async function write(fingerprint: string, index: number, block: Uint8Array): Promise<void> {
    const place = folderOf(fingerprint);
    const beside = join(place, `${index}.${randomUUID()}.part`);
    const checksum = Buffer.alloc(CHECKSUM_BYTES);
    checksum.writeUInt32LE(crc32(block));
    try {
      await mkdir(place, { recursive: true, mode: 0o700 });
      await writeFile(beside, Buffer.concat([checksum, block]), { mode: 0o600 });
      await rename(beside, join(place, String(index)));
    } catch (error) {
      await rm(beside, { force: true }).catch(() => {});
      throw error;
    }
    refusedUntil = 0;
    writtenBytes += block.length;
    if (writtenBytes >= maxBytes * LOOK_AFTER_SHARE) await makeRoom();
  }

  /** Removes what is longest out of use, and what was left behind half written. */
  async function makeRoom(): Promise<void> {
    writtenBytes = 0;
    const found: { path: string; bytes: number; usedAt: number }[] = [];
    const now = Date.now();
    for (const group of await namesIn(folder)) {
      for (const fingerprint of await namesIn(join(folder, group))) {
        const place = join(folder, group, fingerprint);
        for (const name of await namesIn(place)) {
          const path = join(place, name);
          const stats = await stat(path).catch(() => null);
          if (stats === null) continue; // another process has removed it
          const isAbandoned = name.endsWith('.part') && now - stats.mtimeMs > ABANDONED_AFTER_MS;
          if (isAbandoned) await rm(path, { force: true });
          else found.push({ path, bytes: stats.size, usedAt: stats.mtimeMs });
        }
      }
    }
    let bytes = found.reduce((sum, block) => sum + block.bytes, 0);
    if (bytes <= maxBytes) return;
    found.sort((one, other) => one.usedAt - other.usedAt);
    for (const block of found) {
      if (bytes <= maxBytes * ROOM_SHARE) break;
      await rm(block.path, { force: true });
      bytes -= block.bytes;
      // The folder goes with its last block; while there are others it stays.
      await rmdir(join(block.path, '..')).catch(() => {});
    }
  }

  return {
    async read(fingerprint, index) {
      const path = join(folderOf(fingerprint), String(index));
      const bytes = await readFile(path).catch(() => null);
      if (bytes === null) return null;
      const block = bytes.subarray(CHECKSUM_BYTES);
      if (bytes.length < CHECKSUM_BYTES || crc32(block) !== bytes.readUInt32LE(0)) {
        await rm(path, { force: true }).catch(() => {});
        return null;
      }
      void touch(path);
      return block;
    },

    put(fingerprint, index, block) {
      const isFull = waitingBytes + block.length > MOST_WAITING_BYTES;
      if (maxBytes === 0 || isFull || performance.now() < refusedUntil) return;
      waitingBytes += block.length;
      work = work
        .then(() => write(fingerprint, index, block))
        .catch(refused)
        .finally(() => {
          waitingBytes -= block.length;
        });
    },

    settled: () => work,
  };
}

async function touch(path: string): Promise<void> {
  try {
    const now = Date.now();
    if (now - (await stat(path)).mtimeMs > TOUCH_AFTER_MS) await utimes(path, now / 1000, now / 1000);
  } catch {
    // removed meanwhile to make room
  }
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => []);
}
