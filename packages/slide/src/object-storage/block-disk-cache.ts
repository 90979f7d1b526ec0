/**
 * A disk cache of blocks of objects, with one file per block. Several processes of a machine may share the folder.
 *
 * The cache writes a block to a temporary file and renames it, so readers never see a partial block. The cache does not
 * call fsync, so a power failure may damage files. Therefore a CRC-32 checksum precedes the block in its file. Lost or
 * damaged blocks are read from object storage again.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rename, rm, rmdir, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { ByteSource } from '../source/byte-source.ts';
import { createOpenFiles } from '../source/open-files.ts';

/** Identifies a block. */
export interface Block {
  /** Fingerprint of the object, a slash, and the index of the block. */
  readonly name: string;
  readonly byteCount: number;
}

export interface BlockDiskCache {
  /**
   * Reads `length` bytes of a block, beginning at `offset` in the block, into `target`, beginning at index `targetStart`.
   *
   * @returns false when the block is missing or damaged; the contents of `target` are then undefined
   */
  readInto(
    target: Uint8Array,
    targetStart: number,
    block: Block,
    offset: number,
    length: number,
  ): Promise<boolean>;
  /** Writes a block in the background. Does nothing while too many other blocks wait, and for 10 s after a disk error. */
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
  /** Folder of the cache; it is created with the first block. */
  readonly folder: string;
  /** Maximum bytes of all blocks in the folder. Each process may temporarily exceed it by 1/32. 0 disables writing. */
  readonly maxBytes: number;
  /** Reports a disk error; further errors are not reported until a write succeeds. */
  readonly warn: (error: unknown) => void;
}

const CHECKSUM_BYTES = 4;
/** Maximum bytes of blocks that wait to be written; further blocks are not cached on disk. */
const MAX_WAITING_BYTES = 16 * 2 ** 20;
/** Each time this process has written this share of the size limit, it scans the folder for blocks to evict. */
const SCAN_AFTER_SHARE = 1 / 32;
/** When the size limit is exceeded, blocks are evicted until at most this share of the limit is in use. */
const TARGET_SHARE = 0.9;
/** Minimum interval between updates of a block's modification time (mtime). Blocks with the oldest mtime are evicted first. */
const TOUCH_AFTER_MS = 10 * 60_000;
/** A temporary file of this age is deleted, because the process that wrote it must have ended. */
const ABANDONED_AFTER_MS = 60 * 60_000;
/**
 * Maximum number of open block files: 512 MiB in blocks of 256 KiB. A file that another process deletes keeps using disk
 * space while it is open here, at most until the next update of its mtime.
 */
const MAX_OPEN_FILES = 2048;
/** Maximum number of blocks that are remembered as verified: 16 GiB in blocks of 256 KiB. The Map then takes about 10 MB. */
const MAX_VERIFIED = 65_536;
/** Pause of writing after a disk error. */
const PAUSE_AFTER_ERROR_MS = 10_000;

export function createBlockDiskCache({ folder, maxBytes, warn }: BlockDiskCacheOptions): BlockDiskCache {
  let waitingBytes = 0;
  /** Bytes that this process has written since its last scan of the folder. */
  let writtenBytes = 0;
  /** End of the pause of writing after a disk error, by `performance.now()`; 0 after a successful write. */
  let pausedUntil = 0;
  const files = createOpenFiles(MAX_OPEN_FILES);
  /** Blocks whose checksum this process has verified, by name. */
  const verifiedBlocks = new Map<string, VerifiedBlock>();
  /** Verifications in progress, by name of the block. */
  const runningChecks = new Map<string, Promise<VerifiedBlock | null>>();
  /** The last step of the background work, which begins with a scan of the folder. Scans and writes run one after the other. */
  let lastWork: Promise<void> = evict().catch(pauseWriting);

  /** The cache folder has a folder for each prefix (the first two characters of a fingerprint), with a folder for each object. */
  const pathOf = (name: string) => join(folder, name.slice(0, 2), name);

  function pauseWriting(error: unknown): void {
    if (pausedUntil === 0) warn(error);
    pausedUntil = performance.now() + PAUSE_AFTER_ERROR_MS;
  }

  async function write(name: string, block: Uint8Array): Promise<void> {
    const path = pathOf(name);
    const temporaryPath = `${path}.${randomUUID()}.part`;
    const checksum = Buffer.alloc(CHECKSUM_BYTES);
    checksum.writeUInt32LE(crc32(block));
    try {
      // Modes: only the user of the server may read the cache.
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      await writeFile(temporaryPath, Buffer.concat([checksum, block]), { mode: 0o600 });
      await rename(temporaryPath, path);
    } catch (error) {
      await rm(temporaryPath, { force: true }).catch(() => {});
      throw error;
    }
    pausedUntil = 0;
    writtenBytes += block.length;
    if (writtenBytes >= maxBytes * SCAN_AFTER_SHARE) await evict();
  }

  /** Deletes the least recently used blocks above the limit, and abandoned partial files. */
  async function evict(): Promise<void> {
    writtenBytes = 0;
    const blocks: { name: string; path: string; bytes: number; usedAt: number }[] = [];
    const now = Date.now();
    for (const prefix of await namesIn(folder)) {
      for (const fingerprint of await namesIn(join(folder, prefix))) {
        const folderOfObject = join(folder, prefix, fingerprint);
        for (const name of await namesIn(folderOfObject)) {
          const path = join(folderOfObject, name);
          const stats = await stat(path).catch(() => null);
          if (stats === null) continue; // Another process has removed the block.
          // A younger partial file may still be written. It counts as a block and, as one of the newest, is evicted last.
          const isAbandoned = name.endsWith('.part') && now - stats.mtimeMs > ABANDONED_AFTER_MS;
          if (isAbandoned) await rm(path, { force: true });
          else
            blocks.push({ name: `${fingerprint}/${name}`, path, bytes: stats.size, usedAt: stats.mtimeMs });
        }
      }
    }
    let bytes = blocks.reduce((sum, block) => sum + block.bytes, 0);
    if (bytes <= maxBytes) return;
    blocks.sort((a, b) => a.usedAt - b.usedAt);
    for (const block of blocks) {
      if (bytes <= maxBytes * TARGET_SHARE) break;
      await closeAndForget(block.name, block.path);
      await rm(block.path, { force: true });
      bytes -= block.bytes;
      // The folder is removed with its last block; rmdir fails while others remain.
      await rmdir(join(block.path, '..')).catch(() => {});
    }
  }

  /** Sets the block's mtime to the current time, as the time of its last use. */
  function touch(name: string, block: VerifiedBlock): void {
    block.touchedAt = performance.now();
    const now = Date.now() / 1000;
    utimes(block.path, now, now).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') void closeAndForget(name, block.path); // Another process has evicted the block.
    });
  }

  /** Closes a block's file and forgets that the block was verified, so that the next read verifies it again. */
  async function closeAndForget(name: string, path: string): Promise<void> {
    verifiedBlocks.delete(name);
    await files.closeFile(path);
  }

  /** Verifies the checksum of a block, once for all concurrent readers. Returns null for a missing or damaged block. */
  function verifyOnce(block: Block): VerifiedBlock | Promise<VerifiedBlock | null> {
    const known = verifiedBlocks.get(block.name) ?? runningChecks.get(block.name);
    if (known !== undefined) return known;
    const checked = verify(block).finally(() => runningChecks.delete(block.name));
    runningChecks.set(block.name, checked);
    return checked;
  }

  /** Verifies the checksum of a block; deletes the file of a damaged block. */
  async function verify({ name, byteCount }: Block): Promise<VerifiedBlock | null> {
    const path = pathOf(name);
    try {
      const file = await files.open(path, CHECKSUM_BYTES + byteCount);
      if (file.size === CHECKSUM_BYTES + byteCount && (await hasValidChecksum(file))) {
        if (verifiedBlocks.size >= MAX_VERIFIED) verifiedBlocks.clear();
        const verified: VerifiedBlock = { path, touchedAt: 0 };
        verifiedBlocks.set(name, verified);
        touch(name, verified);
        return verified;
      }
      await closeAndForget(name, path);
      await rm(path, { force: true });
    } catch {
      await closeAndForget(name, path); // The file is missing, or the disk returned an error.
    }
    return null;
  }

  return {
    async readInto(target, targetStart, block, offset, length) {
      const verified = await verifyOnce(block);
      if (verified === null) return false;
      try {
        const file = await files.open(verified.path, CHECKSUM_BYTES + block.byteCount);
        await file.readInto(target, targetStart, CHECKSUM_BYTES + offset, length);
      } catch {
        await closeAndForget(block.name, verified.path); // The file was deleted or truncated.
        return false;
      }
      if (performance.now() - verified.touchedAt > TOUCH_AFTER_MS) touch(block.name, verified);
      return true;
    },

    put(name, block) {
      const isQueueFull = waitingBytes + block.length > MAX_WAITING_BYTES;
      if (maxBytes === 0 || isQueueFull || performance.now() < pausedUntil) return;
      waitingBytes += block.length;
      lastWork = lastWork
        .then(() => write(name, block))
        .catch(pauseWriting)
        .finally(() => {
          waitingBytes -= block.length;
        });
    },

    settled: () => lastWork,

    async close() {
      await lastWork;
      await files.closeAll();
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
