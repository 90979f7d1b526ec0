/**
 * Caches blocks of objects on disk, one file each. Several processes of a machine may share the folder.
 *
 * A block is written to a temporary file and then renamed, so readers never see a partial block. It starts
 * with a checksum, because after a power failure a file may contain anything. Nothing is synced: lost blocks
 * are read from object storage again.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rename, rm, rmdir, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { ByteSource } from '../source/byte-source.ts';
import { cacheOpenFiles } from '../source/open-files.ts';

/** Identifies a block. */
export interface Block {
  /** Fingerprint of the object, a slash, and the index of the block. */
  readonly name: string;
  readonly byteCount: number;
}

export interface BlockDiskCache {
  /**
   * Reads `length` bytes of a block, from its byte `offset`, into `target`, from its index `at`.
   *
   * @returns false when the block is not cached or damaged; the contents of `target` are then undefined
   */
  readInto(target: Uint8Array, at: number, block: Block, offset: number, length: number): Promise<boolean>;
  /** Writes a block in the background. Skips it while too many wait or the disk returns errors. */
  put(name: string, block: Uint8Array): void;
  /** Resolves when all blocks are written and the folder is within its limit. */
  settled(): Promise<void>;
  /** Resolves when all writes have ended and no file is open. */
  close(): Promise<void>;
}

interface VerifiedBlock {
  readonly path: string;
  /** Time of the last update of the file's mtime, by `performance.now()`. */
  touchedAt: number;
}

interface BlockDiskCacheOptions {
  /** Created with the first block. */
  readonly folder: string;
  /**
   * Limit for all blocks of the folder, whichever process wrote them. Each process may exceed it by 1/32 for
   * a while.
   */
  readonly maxBytes: number;
  /** Reports the first error of the disk; the next one is reported after a successful write. */
  readonly warn: (error: unknown) => void;
}

const CHECKSUM_BYTES = 4;
/** Memory for blocks that wait to be written. */
const MAX_WAITING_BYTES = 16 * 2 ** 20;
/** The folder is scanned again after this share of the limit was written. */
const SCAN_AFTER_SHARE = 1 / 32;
/** Eviction continues until this share of the limit is in use. */
const TARGET_SHARE = 0.9;
/** Minimum interval between updates of a block's mtime, which orders the eviction. */
const TOUCH_AFTER_MS = 10 * 60_000;
/** The writer of a partial file of this age has ended. */
const ABANDONED_AFTER_MS = 60 * 60_000;
/**
 * Half a gigabyte of blocks. A block that another process removes uses disk space while it is open here,
 * until its next mtime update.
 */
const MAX_OPEN_FILES = 2048;
/** Blocks whose checksum was verified; enough for 16 GiB, in some ten megabytes of memory. */
const MAX_VERIFIED = 65_536;
/** Pause of writing after an error of the disk. */
const PAUSE_AFTER_ERROR_MS = 10_000;

export function createBlockDiskCache({ folder, maxBytes, warn }: BlockDiskCacheOptions): BlockDiskCache {
  let waitingBytes = 0;
  let writtenBytes = 0;
  let pausedUntil = 0;
  const files = cacheOpenFiles(MAX_OPEN_FILES);
  /** Blocks whose checksum this process has verified, by name. */
  const verified = new Map<string, VerifiedBlock>();
  const checking = new Map<string, Promise<VerifiedBlock | null>>();
  // Runs one after the other: scanning the folder, writing, scanning again.
  let work: Promise<void> = evict().catch(pauseWriting);

  const pathOf = (name: string) => join(folder, name.slice(0, 2), name);

  function pauseWriting(error: unknown): void {
    if (pausedUntil === 0) warn(error);
    pausedUntil = performance.now() + PAUSE_AFTER_ERROR_MS;
  }

  async function write(name: string, block: Uint8Array): Promise<void> {
    const path = pathOf(name);
    const temporary = `${path}.${randomUUID()}.part`;
    const checksum = Buffer.alloc(CHECKSUM_BYTES);
    checksum.writeUInt32LE(crc32(block));
    try {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      await writeFile(temporary, Buffer.concat([checksum, block]), { mode: 0o600 });
      await rename(temporary, path);
    } catch (error) {
      await rm(temporary, { force: true }).catch(() => {});
      throw error;
    }
    pausedUntil = 0;
    writtenBytes += block.length;
    if (writtenBytes >= maxBytes * SCAN_AFTER_SHARE) await evict();
  }

  /** Deletes the least recently used blocks above the limit, and abandoned partial files. */
  async function evict(): Promise<void> {
    writtenBytes = 0;
    const found: { name: string; path: string; bytes: number; usedAt: number }[] = [];
    const now = Date.now();
    for (const group of await namesIn(folder)) {
      for (const fingerprint of await namesIn(join(folder, group))) {
        const folderOfObject = join(folder, group, fingerprint);
        for (const name of await namesIn(folderOfObject)) {
          const path = join(folderOfObject, name);
          const stats = await stat(path).catch(() => null);
          if (stats === null) continue; // another process has removed it
          const isAbandoned = name.endsWith('.part') && now - stats.mtimeMs > ABANDONED_AFTER_MS;
          if (isAbandoned) await rm(path, { force: true });
          else found.push({ name: `${fingerprint}/${name}`, path, bytes: stats.size, usedAt: stats.mtimeMs });
        }
      }
    }
    let bytes = found.reduce((sum, block) => sum + block.bytes, 0);
    if (bytes <= maxBytes) return;
    found.sort((one, other) => one.usedAt - other.usedAt);
    for (const block of found) {
      if (bytes <= maxBytes * TARGET_SHARE) break;
      await dropState(block.name, block.path);
      await rm(block.path, { force: true });
      bytes -= block.bytes;
      // The folder is removed with its last block; rmdir fails while others remain.
      await rmdir(join(block.path, '..')).catch(() => {});
    }
  }

  /** Updates the block's mtime as time of use. */
  function touch(name: string, block: VerifiedBlock): void {
    block.touchedAt = performance.now();
    const now = Date.now() / 1000;
    utimes(block.path, now, now).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') void dropState(name, block.path); // another process has evicted it
    });
  }

  /** Drops all state of a block, so that the next read checks its file again. */
  async function dropState(name: string, path: string): Promise<void> {
    verified.delete(name);
    await files.drop(path);
  }

  /** Verifies a whole block, once for all concurrent readers. Null: it is missing or damaged. */
  function verify(block: Block): VerifiedBlock | Promise<VerifiedBlock | null> {
    const cached = verified.get(block.name) ?? checking.get(block.name);
    if (cached !== undefined) return cached;
    const checked = check(block).finally(() => checking.delete(block.name));
    checking.set(block.name, checked);
    return checked;
  }

  async function check({ name, byteCount }: Block): Promise<VerifiedBlock | null> {
    const path = pathOf(name);
    try {
      const file = await files.take(path, CHECKSUM_BYTES + byteCount);
      if (file.size === CHECKSUM_BYTES + byteCount && (await hasValidChecksum(file))) {
        if (verified.size >= MAX_VERIFIED) verified.clear();
        const cached: VerifiedBlock = { path, touchedAt: 0 };
        verified.set(name, cached);
        touch(name, cached);
        return cached;
      }
      await dropState(name, path);
      await rm(path, { force: true });
    } catch {
      await dropState(name, path); // it is missing, or the disk returned an error
    }
    return null;
  }

  return {
    async readInto(target, at, block, offset, length) {
      const cached = await verify(block);
      if (cached === null) return false;
      try {
        const file = await files.take(cached.path, CHECKSUM_BYTES + block.byteCount);
        await file.readInto(target, at, CHECKSUM_BYTES + offset, length);
      } catch {
        await dropState(block.name, cached.path); // it is no longer there, or truncated
        return false;
      }
      if (performance.now() - cached.touchedAt > TOUCH_AFTER_MS) touch(block.name, cached);
      return true;
    },

    put(name, block) {
      const isFull = waitingBytes + block.length > MAX_WAITING_BYTES;
      if (maxBytes === 0 || isFull || performance.now() < pausedUntil) return;
      waitingBytes += block.length;
      work = work
        .then(() => write(name, block))
        .catch(pauseWriting)
        .finally(() => {
          waitingBytes -= block.length;
        });
    },

    settled: () => work,

    async close() {
      await work;
      await files.close();
    },
  };
}

/** Whether the checksum matches the block. */
async function hasValidChecksum(file: ByteSource): Promise<boolean> {
  const bytes = Buffer.from((await file.read(0, file.size)).buffer);
  return crc32(bytes.subarray(CHECKSUM_BYTES)) === bytes.readUInt32LE(0);
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => []);
}
