/**
 * Blocks of objects on the disk: a file for each, which several processes of a machine may share.
 *
 * A block is written beside its place and moved there, so none is ever seen in part; its checksum stands before it, for
 * after a power failure a file may hold anything. Nothing is synced: what is lost is read from the store again.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rename, rm, rmdir, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { ByteSource } from './byte-source.ts';
import { keepFilesOpen } from './open-files.ts';

/** Which block, and how long it is. */
export interface Block {
  /** Fingerprint of the object as it is, a slash, the index of the block: its place on the shelf. */
  readonly name: string;
  readonly byteCount: number;
}

export interface BlockShelf {
  /**
   * Reads `length` bytes of a block, from its byte `offset`, into `target`, from its index `at`.
   *
   * @returns false when it is not there, or not whole: then `target` holds anything
   */
  readInto(target: Uint8Array, at: number, block: Block, offset: number, length: number): Promise<boolean>;
  /** Written behind, and not at all while too much waits or the disk refuses. */
  put(name: string, block: Uint8Array): void;
  /** Resolves when everything that was put is on the disk, and the disk within its bound. */
  settled(): Promise<void>;
  /** Resolves when nothing is written any more, and no file is open. */
  close(): Promise<void>;
}

interface SoundBlock {
  readonly path: string;
  /** When its time on the disk was set, by `performance.now`. */
  touchedAt: number;
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
/** Half a gigabyte of blocks. What another process removes keeps its room while it is open here, until it is touched. */
const MOST_OPEN_FILES = 2048;
/** Blocks whose checksum has held are known as such: of 16 GiB, in some ten megabytes of memory. */
const MOST_SOUND = 65_536;
/** The disk refused: left alone for so long. */
const REFUSED_FOR_MS = 10_000;

export function createBlockShelf({ folder, maxBytes, warn }: Plan): BlockShelf {
  let waitingBytes = 0;
  let writtenBytes = 0;
  let refusedUntil = 0;
  const files = keepFilesOpen(MOST_OPEN_FILES);
  /** By its name what this process knows of a block whose checksum it has seen to hold. */
  const sound = new Map<string, SoundBlock>();
  const checking = new Map<string, Promise<SoundBlock | null>>();
  // One after the other: looking what is there, then writing, then looking again.
  let work: Promise<void> = makeRoom().catch(refused);

  const pathOf = (name: string) => join(folder, name.slice(0, 2), name);

  function refused(error: unknown): void {
    if (refusedUntil === 0) warn(error);
    refusedUntil = performance.now() + REFUSED_FOR_MS;
  }

  async function write(name: string, block: Uint8Array): Promise<void> {
    const path = pathOf(name);
    const beside = `${path}.${randomUUID()}.part`;
    const checksum = Buffer.alloc(CHECKSUM_BYTES);
    checksum.writeUInt32LE(crc32(block));
    try {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      await writeFile(beside, Buffer.concat([checksum, block]), { mode: 0o600 });
      await rename(beside, path);
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
    const found: { name: string; path: string; bytes: number; usedAt: number }[] = [];
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
          else found.push({ name: `${fingerprint}/${name}`, path, bytes: stats.size, usedAt: stats.mtimeMs });
        }
      }
    }
    let bytes = found.reduce((sum, block) => sum + block.bytes, 0);
    if (bytes <= maxBytes) return;
    found.sort((one, other) => one.usedAt - other.usedAt);
    for (const block of found) {
      if (bytes <= maxBytes * ROOM_SHARE) break;
      await forget(block.name, block.path);
      await rm(block.path, { force: true });
      bytes -= block.bytes;
      // The folder goes with its last block; while there are others it stays.
      await rmdir(join(block.path, '..')).catch(() => {});
    }
  }

  /** Says on the disk that it is used. */
  function touch(name: string, block: SoundBlock): void {
    block.touchedAt = performance.now();
    const now = Date.now() / 1000;
    utimes(block.path, now, now).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') void forget(name, block.path); // removed meanwhile to make room
    });
  }

  /** As if it had never been read: whoever asks next looks anew. */
  async function forget(name: string, path: string): Promise<void> {
    sound.delete(name);
    await files.drop(path);
  }

  /** Looks at the whole of a block, once for all who want a part of it. Null: it is not there, or not whole. */
  function knownOrChecked(block: Block): SoundBlock | Promise<SoundBlock | null> {
    const known = sound.get(block.name) ?? checking.get(block.name);
    if (known !== undefined) return known;
    const checked = check(block).finally(() => checking.delete(block.name));
    checking.set(block.name, checked);
    return checked;
  }

  async function check({ name, byteCount }: Block): Promise<SoundBlock | null> {
    const path = pathOf(name);
    try {
      const file = await files.take(path, CHECKSUM_BYTES + byteCount);
      if (file.size === CHECKSUM_BYTES + byteCount && (await isSound(file))) {
        if (sound.size >= MOST_SOUND) sound.clear();
        const known: SoundBlock = { path, touchedAt: 0 };
        sound.set(name, known);
        touch(name, known);
        return known;
      }
      await forget(name, path);
      await rm(path, { force: true });
    } catch {
      await forget(name, path); // it is not there, or the disk does not give it
    }
    return null;
  }

  return {
    async readInto(target, at, block, offset, length) {
      const known = await knownOrChecked(block);
      if (known === null) return false;
      try {
        const file = await files.take(known.path, CHECKSUM_BYTES + block.byteCount);
        await file.readInto(target, at, CHECKSUM_BYTES + offset, length);
      } catch {
        await forget(block.name, known.path); // it is not there any more, or not whole
        return false;
      }
      if (performance.now() - known.touchedAt > TOUCH_AFTER_MS) touch(block.name, known);
      return true;
    },

    put(name, block) {
      const isFull = waitingBytes + block.length > MOST_WAITING_BYTES;
      if (maxBytes === 0 || isFull || performance.now() < refusedUntil) return;
      waitingBytes += block.length;
      work = work
        .then(() => write(name, block))
        .catch(refused)
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

/** Whether the checksum of the whole block holds. */
async function isSound(file: ByteSource): Promise<boolean> {
  const bytes = Buffer.from((await file.read(0, file.size)).buffer);
  return crc32(bytes.subarray(CHECKSUM_BYTES)) === bytes.readUInt32LE(0);
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => []);
}
