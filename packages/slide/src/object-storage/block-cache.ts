/**
 * A reader of objects in object storage. It reads blocks of 256 KiB and caches them in memory and on disk.
 *
 * A response of object storage takes tens of milliseconds whatever its size, and a tile has tens of kilobytes. Reading whole
 * blocks pays off because neighbouring tiles are stored next to each other. Blocks are cached under the object's
 * fingerprint (a hash of its ETag and size), not under its key, so blocks of a replaced object are never returned.
 */
import { LRUCache } from 'lru-cache';
import { type ByteSource, checkRange } from '../source/byte-source.ts';
import { fingerprintOfVersions, versionOfObject } from '../source/fingerprint.ts';
import type { Block, BlockDiskCache } from './block-disk-cache.ts';
import type { ObjectStore, StoredObject } from './object-store.ts';

/**
 * Size of a block. In a measurement, viewing twelve places of a scan of 290 MB (1,674 tiles, 46 MB) took 184 requests
 * that read 51 MB. With blocks of 64 KiB, 450 requests read 34 MB; with blocks of 1 MiB, 98 requests read 103 MB.
 */
export const BLOCK_BYTES = 256 * 1024;
/** Maximum number of adjacent blocks that are fetched with one request. */
const MAX_BLOCKS_PER_REQUEST = 8;
/** A read of more blocks proceeds in steps of this many, to limit the memory that it needs in addition to its target. */
const BLOCKS_PER_STEP = 16;

export interface BlockCache {
  /**
   * Reads bytes into a buffer as `ByteSource.readInto` does, from exactly this version of the object. Writes nothing into
   * `target` after the promise has settled.
   *
   * @throws SlideError errors of `ObjectStore.read`
   */
  readInto(object: StoredObject, ...targetAndRange: Parameters<ByteSource['readInto']>): Promise<void>;
}

interface BlockCacheOptions {
  readonly store: Pick<ObjectStore, 'read'>;
  readonly maxMemoryBytes: number;
  /** Null to cache blocks in memory only. */
  readonly diskCache: Pick<BlockDiskCache, 'readInto' | 'put'> | null;
}

/** An object and its blocks by index. The name of a block is built once and reused for every tile that is read from the block. */
interface ObjectBlocks {
  readonly object: StoredObject;
  readonly fingerprint: string;
  readonly blockByIndex: Block[];
}

/** A requested byte range of an object, and its destination. */
interface ByteRange {
  readonly blocks: ObjectBlocks;
  readonly target: Uint8Array;
  /** Index in the target of the first byte. */
  readonly targetStart: number;
  /** Position in the object. */
  readonly offset: number;
  readonly length: number;
}

/** Requests for blocks of an object that one read has started. Other reads that need one of these blocks wait for them too. */
interface Batch {
  readonly names: readonly string[];
  /** Aborts the requests when no read waits for the batch any longer. */
  readonly controller: AbortController;
  /** Number of pairs of a waiting read and a block of the batch for which the read waits. */
  waiters: number;
}

/** A block that is being fetched. */
interface PendingBlock {
  readonly bytes: Promise<Uint8Array>;
  readonly batch: Batch;
}

export function createBlockCache({ store, maxMemoryBytes, diskCache }: BlockCacheOptions): BlockCache {
  const memoryCache = new LRUCache<string, Uint8Array>({
    maxSize: Math.max(1, maxMemoryBytes), // 0 would mean no limit
    sizeCalculation: ({ byteLength }) => byteLength,
  });
  const pending = new Map<string, PendingBlock>();
  const blocksByObject = new WeakMap<StoredObject, ObjectBlocks>();

  function blocksOf(object: StoredObject): ObjectBlocks {
    let blocks = blocksByObject.get(object);
    if (blocks === undefined) {
      blocks = { object, fingerprint: fingerprintOfVersions([versionOfObject(object)]), blockByIndex: [] };
      blocksByObject.set(object, blocks);
    }
    return blocks;
  }

  /** Starts to fetch blocks from the store: one batch, with one request for each run of consecutive blocks. */
  function startFetch(blocks: ObjectBlocks, indices: readonly number[]): void {
    const { object } = blocks;
    const batch: Batch = {
      names: indices.map((index) => blockAt(blocks, index).name),
      controller: new AbortController(),
      waiters: 0,
    };
    const results = new Map(indices.map((index) => [index, Promise.withResolvers<Uint8Array>()]));
    for (const [index, { promise }] of results) {
      const { name } = blockAt(blocks, index);
      promise.catch(() => {}); // If all waiting reads were aborted, no caller handles the error.
      pending.set(name, { bytes: promise, batch });
    }
    /** Stores a received block in both caches and passes it to the reads that wait for it. */
    const deliver = (index: number, bytes: Uint8Array) => {
      const { name } = blockAt(blocks, index);
      memoryCache.set(name, bytes);
      results.get(index)?.resolve(bytes);
      diskCache?.put(name, bytes);
    };

    /** Fetches a run of blocks with one request. */
    async function fetchRun(first: number, count: number): Promise<void> {
      try {
        const offset = first * BLOCK_BYTES;
        const length = Math.min(count * BLOCK_BYTES, object.size - offset);
        const bytes = await store.read(object, offset, length, batch.controller.signal);
        for (let i = 0; i < count; i++) {
          // A copy, so that a cached block does not keep the bytes of the whole response in memory.
          deliver(first + i, bytes.slice(i * BLOCK_BYTES, (i + 1) * BLOCK_BYTES));
        }
      } catch (error) {
        for (let i = 0; i < count; i++) results.get(first + i)?.reject(error);
      }
    }

    void Promise.all(runsOf(indices).map(({ first, count }) => fetchRun(first, count))).finally(() =>
      removePending(batch),
    );
  }

  /** Removes the blocks of a batch, except those that a later batch fetches again. */
  function removePending(batch: Batch): void {
    for (const name of batch.names) if (pending.get(name)?.batch === batch) pending.delete(name);
  }

  /** Copies the part of a range that lies in a cached block. @returns false when the block is not cached */
  function copyIfCached(range: ByteRange, index: number): boolean | Promise<boolean> {
    const block = blockAt(range.blocks, index);
    const bytes = memoryCache.get(block.name);
    if (bytes !== undefined) {
      copyFrom(bytes, index, range);
      return true;
    }
    if (diskCache === null || pending.has(block.name)) return false; // `fetchInto` waits for a pending block
    const { targetStart, offset, length } = partInBlock(index, range);
    return diskCache.readInto(range.target, targetStart, block, offset, length);
  }

  /** Copies the parts of a range that lie in cached blocks. @returns indices of the blocks that are not cached */
  async function copyAllCached(range: ByteRange, first: number, end: number): Promise<readonly number[]> {
    if (end - first === 1) return (await copyIfCached(range, first)) ? [] : [first]; // Most tiles lie in one block.
    const indices = Array.from({ length: end - first }, (_, i) => first + i);
    const isCached = await Promise.all(indices.map(async (index) => copyIfCached(range, index)));
    return indices.filter((_, i) => !isCached[i]);
  }

  /** Copies the parts of a range that lie in these blocks. Fetches blocks that are neither in memory nor pending. */
  async function fetchInto(
    range: ByteRange,
    indices: readonly number[],
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const { blocks } = range;
    const names = indices.map((index) => blockAt(blocks, index).name);
    const missing = indices.filter((_, i) => {
      const name = names[i] as string;
      return !memoryCache.has(name) && !pending.has(name);
    });
    if (missing.length > 0) startFetch(blocks, missing);
    const sources = names.map((name) => memoryCache.get(name) ?? (pending.get(name) as PendingBlock));
    const batches = sources.flatMap((source) => (source instanceof Uint8Array ? [] : [source.batch]));
    for (const batch of batches) batch.waiters++;
    try {
      const allBlocks = Promise.all(
        sources.map(async (source) => (source instanceof Uint8Array ? source : source.bytes)),
      );
      const fetched = await unlessAborted(allBlocks, signal);
      for (const [i, index] of indices.entries()) copyFrom(fetched[i] as Uint8Array, index, range);
    } finally {
      for (const batch of batches) {
        batch.waiters--;
        if (batch.waiters > 0) continue;
        // No other read waits for the batch. Requests that still run are aborted; later reads start new ones.
        removePending(batch);
        batch.controller.abort();
      }
    }
  }

  return {
    async readInto(object, target, targetStart, offset, length, signal) {
      checkRange(offset, length, object.size);
      if (length === 0) return;
      const range: ByteRange = { blocks: blocksOf(object), target, targetStart, offset, length };
      const first = Math.floor(offset / BLOCK_BYTES);
      const end = Math.ceil((offset + length) / BLOCK_BYTES);
      for (let index = first; index < end; index += BLOCKS_PER_STEP) {
        signal?.throwIfAborted();
        const missing = await copyAllCached(range, index, Math.min(end, index + BLOCKS_PER_STEP));
        if (missing.length === 0) continue;
        signal?.throwIfAborted();
        await fetchInto(range, missing, signal);
      }
    },
  };
}

function blockAt({ object, fingerprint, blockByIndex }: ObjectBlocks, index: number): Block {
  blockByIndex[index] ??= {
    name: `${fingerprint}/${index}`,
    byteCount: Math.min(BLOCK_BYTES, object.size - index * BLOCK_BYTES),
  };
  return blockByIndex[index];
}

/** Returns the part of a range that lies in a block: index in the target, offset in the block, and length. */
function partInBlock(index: number, { targetStart, offset, length }: ByteRange) {
  const blockStart = index * BLOCK_BYTES;
  const partStart = Math.max(offset, blockStart);
  const partEnd = Math.min(offset + length, blockStart + BLOCK_BYTES);
  return {
    targetStart: targetStart + partStart - offset,
    offset: partStart - blockStart,
    length: partEnd - partStart,
  };
}

/** Copies the part of a range that lies in a block, from the bytes of this block. */
function copyFrom(bytes: Uint8Array, index: number, range: ByteRange): void {
  const { targetStart, offset, length } = partInBlock(index, range);
  range.target.set(bytes.subarray(offset, offset + length), targetStart);
}

/** Groups indices into runs of consecutive indices, at most `MAX_BLOCKS_PER_REQUEST` each. */
function runsOf(indices: readonly number[]): { readonly first: number; count: number }[] {
  const runs: { readonly first: number; count: number }[] = [];
  for (const index of indices.toSorted((a, b) => a - b)) {
    const run = runs.at(-1);
    if (run && run.first + run.count === index && run.count < MAX_BLOCKS_PER_REQUEST) run.count++;
    else runs.push({ first: index, count: 1 });
  }
  return runs;
}

/** Waits for a promise, or rejects with the signal's reason as soon as the signal is aborted. */
async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise;
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  signal.addEventListener('abort', abort);
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
