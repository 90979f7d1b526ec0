import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BLOCK_BYTES, createBlockCache } from './block-cache.ts';
import { type BlockShelf, createBlockShelf } from './block-shelf.ts';
import type { StoredObject } from './object-store.ts';

const bytes = randomBytes(20 * BLOCK_BYTES + 1000);
const object: StoredObject = { key: 'a.svs', size: bytes.length, etag: 'one' };

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'block-cache-'));
});
const shelves: BlockShelf[] = [];
afterEach(async () => {
  await Promise.all(shelves.splice(0).map((shelf) => shelf.close()));
  await rm(folder, { recursive: true });
});

/** A store in memory that says what it was asked for, in blocks. */
function storeOf(content = bytes) {
  const asked: { key: string; first: number; blocks: number; signal: AbortSignal | undefined }[] = [];
  let held: Promise<void> = Promise.resolve();
  let fault: Error | null = null;
  return {
    asked,
    /** Answers nobody until the promise is fulfilled. */
    hold(until: Promise<void>) {
      held = until;
    },
    breakWith(error: Error | null) {
      fault = error;
    },
    async read({ key }: StoredObject, offset: number, length: number, signal?: AbortSignal) {
      asked.push({ key, first: offset / BLOCK_BYTES, blocks: Math.ceil(length / BLOCK_BYTES), signal });
      await held;
      signal?.throwIfAborted();
      if (fault) throw fault;
      return new Uint8Array(content.subarray(offset, offset + length));
    },
  };
}
function shelfIn(): BlockShelf {
  const shelf = createBlockShelf({
    folder,
    maxBytes: 2 ** 30,
    warn(error) {
      throw error;
    },
  });
  shelves.push(shelf);
  return shelf;
}
/** With a short way to read. */
function cacheOf(
  store: ReturnType<typeof storeOf>,
  { maxMemoryBytes = 2 ** 26, shelf = null as BlockShelf | null } = {},
) {
  const cache = createBlockCache({ store, maxMemoryBytes, shelf });
  return {
    async read(from: StoredObject, offset: number, length: number, signal?: AbortSignal) {
      const target = new Uint8Array(length + 2).fill(0xaa);
      await cache.readInto(from, target, 1, offset, length, signal);
      expect([target[0], target[length + 1]]).toEqual([0xaa, 0xaa]); // nothing beside it
      return target.subarray(1, length + 1);
    },
  };
}
const firsts = ({ asked }: ReturnType<typeof storeOf>) =>
  asked.map(({ first, blocks }) => [first, blocks] as const).sort(([one], [other]) => one - other);

describe('reading in blocks', () => {
  it.each([
    ['within a block', 100, 200],
    ['across two', BLOCK_BYTES - 10, 20],
    ['the last bytes', bytes.length - 7, 7],
    ['nothing', 5, 0],
    ['everything', 0, bytes.length],
  ])('gives exactly the bytes: %s', async (_, offset, length) => {
    const read = await cacheOf(storeOf()).read(object, offset, length);
    expect(bytes.subarray(offset, offset + length).equals(read)).toBe(true);
  });

  it('does not ask for what cannot be there', async () => {
    const store = storeOf();
    await expect(cacheOf(store).read(object, bytes.length, 1)).rejects.toMatchObject({
      code: 'FILE_TRUNCATED',
    });
    expect(store.asked).toEqual([]);
  });

  it('fetches what lies beside one another together, eight blocks at most, and leaves out what is there', async () => {
    const store = storeOf();
    const cache = cacheOf(store);
    await cache.read(object, 2 * BLOCK_BYTES, 1);
    await cache.read(object, 0, 12 * BLOCK_BYTES);
    expect(firsts(store)).toEqual([
      [0, 2],
      [2, 1],
      [3, 8],
      [11, 1],
    ]);
  });

  it('fetches a block once, however many ask for it, at once and later', async () => {
    const store = storeOf();
    const gate = Promise.withResolvers<void>();
    store.hold(gate.promise);
    const cache = cacheOf(store);
    const reads = [0, 1, 2].map((offset) => cache.read(object, offset, 10));
    gate.resolve();
    await Promise.all(reads);
    await cache.read(object, 500, 10);
    expect(store.asked).toHaveLength(1);
  });

  it('knows a moved object again, and never takes another one for it', async () => {
    const store = storeOf();
    const cache = cacheOf(store);
    await cache.read(object, 0, 10);
    await cache.read({ ...object, key: 'moved/a.svs' }, 0, 10);
    expect(store.asked).toHaveLength(1);
    await cache.read({ ...object, etag: 'two' }, 0, 10);
    expect(store.asked).toHaveLength(2);
  });

  it('keeps no more in memory than it may: what is longest out of use goes', async () => {
    const store = storeOf();
    const cache = cacheOf(store, { maxMemoryBytes: 2 * BLOCK_BYTES });
    for (const index of [0, 1, 0, 2, 0, 1]) await cache.read(object, index * BLOCK_BYTES, 1);
    expect(store.asked.map(({ first }) => first)).toEqual([0, 1, 2, 1]);
  });

  it('tells everyone of a failure, and asks again for the next', async () => {
    const store = storeOf();
    store.breakWith(new Error('down'));
    const cache = cacheOf(store);
    const both = await Promise.allSettled([cache.read(object, 0, 1), cache.read(object, 1, 1)]);
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    store.breakWith(null);
    expect(await cache.read(object, 0, 1)).toHaveLength(1);
  });

  it('stops fetching when the last one has gone, not before', async () => {
    const store = storeOf();
    const gate = Promise.withResolvers<void>();
    store.hold(gate.promise);
    const cache = cacheOf(store);
    const leaving = [new AbortController(), new AbortController()];
    const reads = leaving.map(({ signal }) => cache.read(object, 0, 1, signal));
    leaving[0]?.abort(new Error('gone'));
    await expect(reads[0]).rejects.toThrow('gone');
    expect(store.asked[0]?.signal?.aborted).toBe(false);
    leaving[1]?.abort(new Error('gone too'));
    await expect(reads[1]).rejects.toThrow('gone too');
    expect(store.asked[0]?.signal?.aborted).toBe(true);
    const anew = cache.read(object, 0, 1);
    gate.resolve();
    expect(await anew).toHaveLength(1);
    expect(store.asked).toHaveLength(2);
  });

  it('takes from the disk what another process has fetched', async () => {
    const first = storeOf();
    const shelf = shelfIn();
    await cacheOf(first, { maxMemoryBytes: 0, shelf }).read(object, 0, bytes.length);
    await shelf.settled();
    const second = storeOf();
    const other = cacheOf(second, { maxMemoryBytes: 0, shelf: shelfIn() });
    expect(bytes.equals(await other.read(object, 0, bytes.length))).toBe(true);
    expect(second.asked).toEqual([]);
  });

  it('reads parts across blocks alike from memory, from the disk and from the store', async () => {
    const store = storeOf();
    const shelf = shelfIn();
    const cache = cacheOf(store, { maxMemoryBytes: 2 * BLOCK_BYTES, shelf });
    for (const index of [1, 2, 4]) await cache.read(object, index * BLOCK_BYTES, 1); // 1 is on the disk alone
    await shelf.settled();
    const asked = store.asked.length;
    for (const _ of ['first read from the disk', 'known there']) {
      const offset = BLOCK_BYTES + 17;
      const read = await cache.read(object, offset, 4 * BLOCK_BYTES);
      expect(bytes.subarray(offset, offset + 4 * BLOCK_BYTES).equals(read)).toBe(true);
    }
    expect(store.asked.slice(asked).map(({ first }) => first)).toEqual([3, 5]);
  });
});
