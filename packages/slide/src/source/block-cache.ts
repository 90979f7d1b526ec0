/**
 * Reads objects in blocks, and keeps those: in memory, then on the disk.
 *
 * A store takes some ten milliseconds to answer, whatever it is asked for, and a tile is a few ten kilobytes: what lies
 * around it is read along, for the tiles beside a tile lie beside it in the file. Blocks are known by what the object
 * is, not by where it lies, so those of an object that was replaced are never found again.
 */

import type { Block, BlockShelf } from './block-shelf.ts';
import { type ByteSource, checkRange } from './byte-source.ts';
import { fingerprintOfVersions, versionOfObject } from './fingerprint.ts';
import type { ObjectStore, StoredObject } from './object-store.ts';

/**
 * Measured: who goes through twelve places of a scan of 290 MB, 1,674 tiles of 46 MB, makes 184 requests for 51 MB so. With
 * a quarter of it there are 450 requests for 34 MB, with four times as much 98 requests for 103 MB.
 */
export const BLOCK_BYTES = 256 * 1024;
/** Blocks that lie beside one another are fetched together, so many at a time. */
const MOST_TOGETHER = 8;
/** A longer read goes in steps of so many blocks, so that it needs no more memory beside its own. */
const WINDOW = 16;

export interface BlockCache {
  /**
   * As `ByteSource.readInto`, of exactly this object. Nothing is written into `target` any more once this has been settled.
   *
   * @throws SlideError what `ObjectStore.read` throws
   */
  readInto(object: StoredObject, ...wanted: Parameters<ByteSource['readInto']>): Promise<void>;
}

interface Plan {
  readonly store: Pick<ObjectStore, 'read'>;
  readonly maxMemoryBytes: number;
  /** Null: blocks are kept in memory alone. */
  readonly shelf: Pick<BlockShelf, 'readInto' | 'put'> | null;
}

/** An object, and its blocks by their indices, as far as they have been asked for: names are made once, not for each tile. */
interface Blocks {
  readonly object: StoredObject;
  readonly fingerprint: string;
  readonly known: Block[];
}

/** Bytes of an object that somebody wants, and where they are to be put. */
interface Wanted {
  readonly blocks: Blocks;
  readonly target: Uint8Array;
  readonly at: number;
  readonly offset: number;
  readonly length: number;
}

/** Some blocks of one object that are on their way, for all who wait for any of them. */
interface Batch {
  readonly names: readonly string[];
  readonly leaving: AbortController;
  waiters: number;
}

interface Coming {
  readonly block: Promise<Uint8Array>;
  readonly batch: Batch;
}

export function createBlockCache({ store, maxMemoryBytes, shelf }: Plan): BlockCache {
  const memory = createBlockMemory(maxMemoryBytes);
  const coming = new Map<string, Coming>();
  const blocksOfObjects = new WeakMap<StoredObject, Blocks>();

  function blocksOf(object: StoredObject): Blocks {
    let blocks = blocksOfObjects.get(object);
    if (blocks === undefined) {
      blocks = { object, fingerprint: fingerprintOfVersions([versionOfObject(object)]), known: [] };
      blocksOfObjects.set(object, blocks);
    }
    return blocks;
  }

  /** Begins to bring these blocks from the store. */
  function bring(blocks: Blocks, indices: readonly number[]): void {
    const { object } = blocks;
    const batch: Batch = {
      names: indices.map((index) => blockAt(blocks, index).name),
      leaving: new AbortController(),
      waiters: 0,
    };
    const answers = new Map(indices.map((index) => [index, Promise.withResolvers<Uint8Array>()]));
    for (const [index, { promise }] of answers) {
      const { name } = blockAt(blocks, index);
      promise.catch(() => {}); // everyone who waited for it may have left
      coming.set(name, { block: promise, batch });
    }
    const settle = (index: number, bytes: Uint8Array) => {
      const { name } = blockAt(blocks, index);
      memory.put(name, bytes);
      answers.get(index)?.resolve(bytes);
      shelf?.put(name, bytes);
    };

    async function fromStore(first: number, count: number): Promise<void> {
      try {
        const at = first * BLOCK_BYTES;
        const length = Math.min(count * BLOCK_BYTES, object.size - at);
        const bytes = await store.read(object, at, length, batch.leaving.signal);
        for (let step = 0; step < count; step++) {
          // A copy: one block that is kept must not keep the others.
          settle(first + step, bytes.slice(step * BLOCK_BYTES, (step + 1) * BLOCK_BYTES));
        }
      } catch (error) {
        for (let step = 0; step < count; step++) answers.get(first + step)?.reject(error);
      }
    }

    void Promise.all(runsOf(indices).map(([first, count]) => fromStore(first, count))).finally(() =>
      forget(batch),
    );
  }

  function forget(batch: Batch): void {
    for (const name of batch.names) if (coming.get(name)?.batch === batch) coming.delete(name);
  }

  /** Puts there what stands of it in a block that is kept. @returns false when it is not kept */
  function takeKept(wanted: Wanted, index: number): boolean | Promise<boolean> {
    const block = blockAt(wanted.blocks, index);
    const bytes = memory.get(block.name);
    if (bytes !== null) {
      copyFrom(bytes, index, wanted);
      return true;
    }
    if (shelf === null || coming.has(block.name)) return false;
    const { at, offset, length } = partIn(index, wanted);
    return shelf.readInto(wanted.target, at, block, offset, length);
  }

  /** The same of blocks that follow one another. @returns those that are not kept */
  async function takeAllKept(wanted: Wanted, from: number, end: number): Promise<readonly number[]> {
    if (end - from === 1) return (await takeKept(wanted, from)) ? [] : [from]; // most tiles
    const indices = Array.from({ length: end - from }, (_, step) => from + step);
    const wasKept = await Promise.all(indices.map(async (index) => takeKept(wanted, index)));
    return indices.filter((_, step) => !wasKept[step]);
  }

  /** Puts there what stands of it in these blocks; those that are neither in memory nor on their way are fetched. */
  async function fetchInto(
    wanted: Wanted,
    indices: readonly number[],
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const { blocks } = wanted;
    const names = indices.map((index) => blockAt(blocks, index).name);
    const missing = indices.filter((_, step) => {
      const name = names[step] as string;
      return !memory.has(name) && !coming.has(name);
    });
    if (missing.length > 0) bring(blocks, missing);
    const sources = names.map((name) => memory.get(name) ?? (coming.get(name) as Coming));
    const batches = sources.flatMap((each) => (each instanceof Uint8Array ? [] : [each.batch]));
    for (const batch of batches) batch.waiters++;
    try {
      const all = Promise.all(sources.map(async (each) => (each instanceof Uint8Array ? each : each.block)));
      const fetched = await unlessAborted(all, signal);
      for (const [step, index] of indices.entries()) copyFrom(fetched[step] as Uint8Array, index, wanted);
    } finally {
      for (const batch of batches) {
        batch.waiters--;
        if (batch.waiters > 0) continue;
        // Nobody wants it any more: whoever comes now begins anew.
        forget(batch);
        batch.leaving.abort();
      }
    }
  }

  return {
    async readInto(object, target, at, offset, length, signal) {
      checkRange(offset, length, object.size);
      if (length === 0) return;
      const wanted: Wanted = { blocks: blocksOf(object), target, at, offset, length };
      const first = Math.floor(offset / BLOCK_BYTES);
      const end = Math.ceil((offset + length) / BLOCK_BYTES);
      for (let from = first; from < end; from += WINDOW) {
        signal?.throwIfAborted();
        const missing = await takeAllKept(wanted, from, Math.min(end, from + WINDOW));
        if (missing.length === 0) continue;
        signal?.throwIfAborted();
        await fetchInto(wanted, missing, signal);
      }
    },
  };
}

function blockAt({ object, fingerprint, known }: Blocks, index: number): Block {
  known[index] ??= {
    name: `${fingerprint}/${index}`,
    byteCount: Math.min(BLOCK_BYTES, object.size - index * BLOCK_BYTES),
  };
  return known[index];
}

/** What of the wanted bytes stands in a block: where they go to, from which of its bytes, and how many. */
function partIn(index: number, { at, offset, length }: Wanted) {
  const start = index * BLOCK_BYTES;
  const from = Math.max(offset, start);
  const to = Math.min(offset + length, start + BLOCK_BYTES);
  return { at: at + from - offset, offset: from - start, length: to - from };
}

function copyFrom(block: Uint8Array, index: number, wanted: Wanted): void {
  const { at, offset, length } = partIn(index, wanted);
  wanted.target.set(block.subarray(offset, offset + length), at);
}

/** @returns the first of numbers that follow one another, and how many */
function runsOf(indices: readonly number[]): [number, number][] {
  const runs: [number, number][] = [];
  for (const index of indices.toSorted((one, other) => one - other)) {
    const run = runs.at(-1);
    if (run && run[0] + run[1] === index && run[1] < MOST_TOGETHER) run[1]++;
    else runs.push([index, 1]);
  }
  return runs;
}

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

/** Bounded by their bytes: those longest out of use go first. */
function createBlockMemory(maxBytes: number) {
  /** The order of a Map is the order of use. */
  const kept = new Map<string, Uint8Array>();
  let bytes = 0;
  return {
    has: (name: string) => kept.has(name),
    get(name: string): Uint8Array | null {
      const block = kept.get(name);
      if (block === undefined) return null;
      kept.delete(name);
      kept.set(name, block);
      return block;
    },
    put(name: string, block: Uint8Array): void {
      bytes += block.length - (kept.get(name)?.length ?? 0);
      kept.delete(name);
      kept.set(name, block);
      for (const [oldest, { length }] of kept) {
        if (bytes <= maxBytes) break;
        kept.delete(oldest);
        bytes -= length;
      }
    },
  };
}
