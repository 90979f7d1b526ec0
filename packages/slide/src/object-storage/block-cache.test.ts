import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BLOCK_BYTES, createBlockCache } from './block-cache.ts';
import { type BlockDiskCache, createBlockDiskCache } from './block-disk-cache.ts';
import type { StoredObject } from './object-store.ts';

const bytes = randomBytes(20 * BLOCK_BYTES + 1000);
const object: StoredObject = { key: 'a.svs', size: bytes.length, etag: 'one' };

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'block-cache-'));
});
const diskCaches: BlockDiskCache[] = [];
afterEach(async () => {
  await Promise.all(diskCaches.splice(0).map((diskCache) => diskCache.close()));
  await rm(folder, { recursive: true });
});

/** A store in memory that records the requested blocks. */
function storeOf(content = bytes) {
  const requests: { key: string; first: number; blocks: number; signal: AbortSignal | undefined }[] = [];
  let gate: Promise<void> = Promise.resolve();
  let fault: Error | null = null;
  return {
    requests,
    /** Delays all responses until the promise is fulfilled. */
    delayUntil(promise: Promise<void>) {
      gate = promise;
    },
    failWith(error: Error | null) {
      fault = error;
    },
    async read({ key }: StoredObject, offset: number, length: number, signal?: AbortSignal) {
      requests.push({ key, first: offset / BLOCK_BYTES, blocks: Math.ceil(length / BLOCK_BYTES), signal });
      await gate;
      signal?.throwIfAborted();
      if (fault) throw fault;
      return new Uint8Array(content.subarray(offset, offset + length));
    },
  };
}
function createDiskCache(): BlockDiskCache {
  const diskCache = createBlockDiskCache({
    folder,
    maxBytes: 2 ** 30,
    warn(error) {
      throw error;
    },
  });
  diskCaches.push(diskCache);
  return diskCache;
}
/** Shortens the calls of `readInto`, and checks that it writes nothing outside the requested range. */
function cacheOf(
  store: ReturnType<typeof storeOf>,
  { maxMemoryBytes = 2 ** 26, diskCache = null as BlockDiskCache | null } = {},
) {
  const cache = createBlockCache({ store, maxMemoryBytes, diskCache });
  return {
    async read(from: StoredObject, offset: number, length: number, signal?: AbortSignal) {
      const target = new Uint8Array(length + 2).fill(0xaa);
      await cache.readInto(from, target, 1, offset, length, signal);
      expect([target[0], target[length + 1]]).toEqual([0xaa, 0xaa]); // bytes outside the range are untouched
      return target.subarray(1, length + 1);
    },
  };
}
const requestedRanges = ({ requests }: ReturnType<typeof storeOf>) =>
  requests.map(({ first, blocks }) => [first, blocks] as const).sort(([firstA], [firstB]) => firstA - firstB);

describe('the block cache (keeps parts of objects of object storage)', () => {
  it.each([
    ['within a block', 100, 200],
    ['across two blocks', BLOCK_BYTES - 10, 20],
    ['at the end of the object', bytes.length - 7, 7],
    ['of length 0', 5, 0],
    ['that is the whole object', 0, bytes.length],
  ])('returns exactly the bytes of a range %s', async (_, offset, length) => {
    const read = await cacheOf(storeOf()).read(object, offset, length);
    expect(bytes.subarray(offset, offset + length).equals(read)).toBe(true);
  });

  it('throws FILE_TRUNCATED for a range beyond the end of the object, without a request to the store', async () => {
    const store = storeOf();
    await expect(cacheOf(store).read(object, bytes.length, 1)).rejects.toMatchObject({
      code: 'FILE_TRUNCATED',
    });
    expect(store.requests).toEqual([]);
  });

  it('requests adjacent missing blocks together, at most eight per request', async () => {
    const store = storeOf();
    const cache = cacheOf(store);
    await cache.read(object, 2 * BLOCK_BYTES, 1);
    await cache.read(object, 0, 12 * BLOCK_BYTES);
    expect(requestedRanges(store)).toEqual([
      [0, 2],
      [2, 1],
      [3, 8],
      [11, 1],
    ]);
  });

  it('requests a block only once for concurrent and later reads', async () => {
    const store = storeOf();
    const gate = Promise.withResolvers<void>();
    store.delayUntil(gate.promise);
    const cache = cacheOf(store);
    const reads = [0, 1, 2].map((offset) => cache.read(object, offset, 10));
    gate.resolve();
    await Promise.all(reads);
    await cache.read(object, 500, 10);
    expect(store.requests).toHaveLength(1);
  });

  it('reuses the blocks of an object with a new key and the same ETag, and requests them again for a new ETag', async () => {
    const store = storeOf();
    const cache = cacheOf(store);
    await cache.read(object, 0, 10);
    await cache.read({ ...object, key: 'moved/a.svs' }, 0, 10);
    expect(store.requests).toHaveLength(1);
    await cache.read({ ...object, etag: 'two' }, 0, 10);
    expect(store.requests).toHaveLength(2);
  });

  it('evicts the least recently used block when the memory limit is reached', async () => {
    const store = storeOf();
    const cache = cacheOf(store, { maxMemoryBytes: 2 * BLOCK_BYTES });
    for (const index of [0, 1, 0, 2, 0, 1]) await cache.read(object, index * BLOCK_BYTES, 1);
    expect(store.requests.map(({ first }) => first)).toEqual([0, 1, 2, 1]);
  });

  it('fails all waiting reads of a block when its request fails, and requests the block again at the next read', async () => {
    const store = storeOf();
    store.failWith(new Error('down'));
    const cache = cacheOf(store);
    const both = await Promise.allSettled([cache.read(object, 0, 1), cache.read(object, 1, 1)]);
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    store.failWith(null);
    expect(await cache.read(object, 0, 1)).toHaveLength(1);
  });

  it('aborts a request to the store only when all reads that wait for it are aborted', async () => {
    const store = storeOf();
    const gate = Promise.withResolvers<void>();
    store.delayUntil(gate.promise);
    const cache = cacheOf(store);
    const controllers = [new AbortController(), new AbortController()];
    const reads = controllers.map(({ signal }) => cache.read(object, 0, 1, signal));
    controllers[0]?.abort(new Error('gone'));
    await expect(reads[0]).rejects.toThrow('gone');
    expect(store.requests[0]?.signal?.aborted).toBe(false);
    controllers[1]?.abort(new Error('gone too'));
    await expect(reads[1]).rejects.toThrow('gone too');
    expect(store.requests[0]?.signal?.aborted).toBe(true);
    const later = cache.read(object, 0, 1);
    gate.resolve();
    expect(await later).toHaveLength(1);
    expect(store.requests).toHaveLength(2);
  });

  it('reads blocks that another cache has stored in the same folder from the disk, without a request to the store', async () => {
    const first = storeOf();
    const diskCache = createDiskCache();
    await cacheOf(first, { maxMemoryBytes: 0, diskCache }).read(object, 0, bytes.length);
    await diskCache.settled();
    const second = storeOf();
    const otherCache = cacheOf(second, { maxMemoryBytes: 0, diskCache: createDiskCache() });
    expect(bytes.equals(await otherCache.read(object, 0, bytes.length))).toBe(true);
    expect(second.requests).toEqual([]);
  });

  it('returns the bytes of a range whose blocks are partly in memory, partly on disk and partly in the store', async () => {
    const store = storeOf();
    const diskCache = createDiskCache();
    const cache = cacheOf(store, { maxMemoryBytes: 2 * BLOCK_BYTES, diskCache });
    for (const index of [1, 2, 4]) await cache.read(object, index * BLOCK_BYTES, 1); // block 1 is only on the disk
    await diskCache.settled();
    const requestCount = store.requests.length;
    for (const _ of ['checksum verified', 'already verified']) {
      const offset = BLOCK_BYTES + 17;
      const read = await cache.read(object, offset, 4 * BLOCK_BYTES);
      expect(bytes.subarray(offset, offset + 4 * BLOCK_BYTES).equals(read)).toBe(true);
    }
    expect(store.requests.slice(requestCount).map(({ first }) => first)).toEqual([3, 5]);
  });
});
