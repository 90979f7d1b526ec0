import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createTileCache, type TileCache } from './tile-cache.ts';

const log = pino({ level: 'silent' });
const block = 4096; // bytes of a disk block
let folder: string;
let caches: TileCache[];

beforeEach(async () => {
  folder = await fs.mkdtemp(path.join(os.tmpdir(), 'tile-cache-'));
  caches = [];
});
afterEach(async () => {
  vi.useRealTimers();
  for (const cache of caches) await cache.close();
  await fs.rm(folder, { recursive: true });
});

/** Opens the cache, which the end of the test closes. The limits are in bytes; by default 100 blocks on the disk, and no memory. */
function open(limits: { disk?: number; memory?: number } = {}): TileCache {
  const cache = createTileCache({
    folder,
    maxDiskBytes: limits.disk ?? 100 * block,
    maxMemoryBytes: limits.memory ?? 0,
    log,
  });
  caches.push(cache);
  return cache;
}

/** Returns bytes that begin and end like a JPEG. @param mark value of the bytes between, which tells tiles apart */
const jpeg = (mark: number, size = 100) => {
  const bytes = new Uint8Array(size).fill(mark);
  bytes.set([0xff, 0xd8], 0);
  bytes.set([0xff, 0xd9], size - 2);
  return bytes;
};
const key = (fingerprint: string, name = '3_0_0') => ({ fingerprint, name });

/** Returns the disk space of all files in bytes, each rounded up to whole blocks. */
async function diskUse(): Promise<number> {
  let bytes = 0;
  for (const file of await cacheFiles()) {
    bytes += Math.ceil((await fs.stat(file)).size / block) * block;
  }
  return bytes;
}

async function cacheFiles(ending = ''): Promise<string[]> {
  const files = await fs.readdir(folder, { recursive: true, withFileTypes: true });
  return files
    .filter((file) => file.isFile() && file.name.endsWith(ending))
    .map((file) => path.join(file.parentPath, file.name))
    .sort();
}

describe('the tile cache (in memory and on disk)', () => {
  it('returns a tile only for the slide and the tile name under which it was cached', async () => {
    const cache = open();
    cache.put(key('aaaa'), jpeg(1));
    cache.put(key('bbbb'), jpeg(2));
    await cache.settled();
    expect(await cache.get(key('aaaa'))).toEqual(jpeg(1));
    expect(await cache.get(key('bbbb'))).toEqual(jpeg(2));
    expect(await cache.get(key('aaaa', '3_0_1'))).toBeNull();
    expect(await cache.get(key('cccc'))).toBeNull();
  });

  it('returns 60 tiles of one slide that were written in several batches', async () => {
    const cache = open({ disk: 1000 * block });
    for (let tile = 0; tile < 60; tile++) {
      cache.put(key('aaaa', `5_${tile}_0`), jpeg(tile, 3000 + tile));
      if (tile % 7 === 0) {
        await cache.settled();
        expect(await cache.get(key('aaaa', `5_${tile}_0`))).toEqual(jpeg(tile, 3000 + tile));
      }
    }
    await cache.settled();
    const found = Array.from({ length: 60 }, (_, tile) => cache.get(key('aaaa', `5_${tile}_0`)));
    expect(await Promise.all(found)).toEqual(found.map((_, tile) => jpeg(tile, 3000 + tile)));
  });

  it('returns each of 3,000 tiles that were written to the cache together', async () => {
    const cache = open({ disk: 10_000 * block });
    for (let tile = 0; tile < 3000; tile++) cache.put(key('aaaa', `5_${tile}_0`), jpeg(tile % 251));
    await cache.settled();
    for (const tile of [0, 511, 512, 1024, 2999]) {
      expect(await cache.get(key('aaaa', `5_${tile}_0`))).toEqual(jpeg(tile % 251));
    }
  });

  it('returns a PNG from the disk, but null for a truncated PNG', async () => {
    const png = Buffer.from('\x89PNG\r\n\x1a\n…IEND\xae\x42\x60\x82', 'latin1');
    const cache = open({ disk: 1000 * block });
    cache.putOnDisk(key('aaaa', 'view.png'), png);
    cache.putOnDisk(key('aaaa', 'truncated.png'), png.subarray(0, -1));
    await cache.settled();
    expect(await cache.get(key('aaaa', 'view.png'))).toEqual(new Uint8Array(png));
    expect(await cache.get(key('aaaa', 'truncated.png'))).toBeNull();
  });

  it('returns a tile from memory when the disk cache is off', async () => {
    const cache = open({ memory: 1000, disk: 0 });
    cache.put(key('aaaa'), jpeg(1));
    expect(await cache.get(key('aaaa'))).toEqual(jpeg(1));
    await cache.settled();
    expect(await diskUse()).toBe(0);
  });

  it('returns a tile that was added with putInMemory, and writes nothing to the disk', async () => {
    const cache = open({ memory: 1000, disk: 1_000_000 });
    cache.putInMemory(key('aaaa'), Uint8Array.of(1, 2));
    expect(await cache.get(key('aaaa'))).toEqual(Uint8Array.of(1, 2));
    await cache.settled();
    expect(await diskUse()).toBe(0);
  });

  it('evicts the least recently used tiles from full memory', async () => {
    const cache = open({ memory: 250, disk: 0 }); // two tiles of 100 bytes
    cache.put(key('a', '1'), jpeg(1));
    cache.put(key('a', '2'), jpeg(2));
    await cache.get(key('a', '1'));
    cache.put(key('a', '3'), jpeg(3));
    expect(await cache.get(key('a', '2'))).toBeNull();
    expect(await cache.get(key('a', '1'))).toEqual(jpeg(1));
    expect(await cache.get(key('a', '3'))).toEqual(jpeg(3));
  });

  it('returns null for a tile that was added with putOnDisk when the disk cache is off', async () => {
    const cache = open({ memory: 1000, disk: 0 });
    cache.putOnDisk(key('aaaa'), jpeg(1));
    await cache.settled();
    expect(await cache.get(key('aaaa'))).toBeNull();
  });

  it('returns a tile from the disk that was added with putOnDisk', async () => {
    const cache = open({ memory: 1000 });
    cache.putOnDisk(key('aaaa'), jpeg(1));
    await cache.settled();
    expect(await cache.sizeOf(key('aaaa'))).toBe(jpeg(1).byteLength);
    expect(await cache.get(key('aaaa'))).toEqual(jpeg(1));
  });

  it('sizeOf() returns the size of a tile in bytes, and null when the tile is not cached', async () => {
    const cache = open({ memory: 1000 });
    cache.put(key('aaaa'), jpeg(1));
    expect(await cache.sizeOf(key('aaaa'))).toBe(jpeg(1).byteLength);
    expect(await cache.sizeOf(key('aaaa', '3_0_1'))).toBeNull();
    expect(await cache.sizeOf(key('bbbb'))).toBeNull();
  });

  it('returns tiles from the disk after a restart', async () => {
    const before = open();
    before.put(key('aaaa'), jpeg(1));
    await before.close();
    expect(await open().get(key('aaaa'))).toEqual(jpeg(1));
  });

  it('stays below its disk limit while 40 tiles of two slides are written', async () => {
    const cache = open({ disk: 10 * block });
    for (let tile = 0; tile < 40; tile++) {
      cache.put(key(tile % 2 ? 'odd' : 'even', `5_${tile}_0`), jpeg(tile, 3000));
      await cache.settled();
      expect(await diskUse()).toBeLessThanOrEqual(10 * block);
    }
    expect(await cache.get(key('odd', '5_39_0'))).toEqual(jpeg(39, 3000));
    expect(await cache.get(key('even', '5_0_0'))).toBeNull();
    expect(await cache.sizeOf(key('even', '5_0_0'))).toBeNull();
  });

  it('evicts the tiles of the least recently used slide first', async () => {
    // Each tile gets its own pack of four blocks: three for the file of tiles and one for the list. So 11 tiles exceed 40 blocks.
    const tile = (mark: number) => jpeg(mark, 2.6 * block);
    const cache = open({ disk: 40 * block });
    cache.put(key('first'), tile(1));
    for (let i = 0; i < 3; i++) cache.put(key('second', `5_${i}_0`), tile(2));
    await cache.settled();
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 1000 });
    expect(await cache.get(key('first'))).not.toBeNull();
    for (let i = 0; i < 7; i++) cache.put(key('third', `5_${i}_0`), tile(3));
    await cache.settled();
    expect(await cache.sizeOf(key('second', '5_0_0'))).toBeNull();
    expect(await cache.get(key('first'))).toEqual(tile(1));
  });

  it('counts the files of an earlier run towards its disk limit', async () => {
    const before = open({ disk: 10 * block });
    for (let tile = 0; tile < 5; tile++) before.put(key('old', `5_${tile}_0`), jpeg(tile, 3000));
    await before.close();
    const after = open({ disk: 10 * block });
    after.put(key('new'), jpeg(1, 3000));
    await after.settled();
    expect(await diskUse()).toBeLessThanOrEqual(10 * block);
    expect(await after.get(key('new'))).not.toBeNull();
  });

  it('evicts tiles at the start until it is below a disk limit that was lowered', async () => {
    const before = open({ disk: 40 * block });
    for (let tile = 0; tile < 20; tile++) before.put(key('old', `5_${tile}_0`), jpeg(tile, 8000));
    await before.close();
    await open({ disk: 5 * block }).settled();
    expect(await diskUse()).toBeLessThanOrEqual(5 * block);
  });

  it.each([
    ['its .tiles file (bytes of tiles) is truncated', '.tiles', (file: string) => fs.truncate(file, 50)],
    ['its .tiles file (bytes of tiles) is missing', '.tiles', (file: string) => fs.rm(file)],
    ['its .list file (positions of tiles) is truncated', '.list', (file: string) => fs.truncate(file, 6)],
    ['its .list file (positions of tiles) is missing', '.list', (file: string) => fs.rm(file)],
    [
      'its .tiles file (bytes of tiles) holds no JPEG',
      '.tiles',
      (file: string) => fs.writeFile(file, new Uint8Array(100)),
    ],
  ])('treats a tile as missing when %s, and can cache it again', async (_, ending, damage) => {
    const before = open();
    before.put(key('aaaa'), jpeg(1));
    await before.close();
    for (const file of await cacheFiles(ending)) await damage(file);
    const cache = open();
    expect(await cache.get(key('aaaa'))).toBeNull();
    cache.put(key('aaaa'), jpeg(2));
    await cache.settled();
    expect(await cache.get(key('aaaa'))).toEqual(jpeg(2));
  });

  it('returns tiles from memory when the disk cannot be written', async () => {
    await fs.rm(folder, { recursive: true });
    await fs.writeFile(folder, 'a file where the folder should be');
    const cache = open({ memory: 1000 });
    cache.put(key('aaaa'), jpeg(1));
    await cache.settled();
    expect(await cache.get(key('aaaa'))).toEqual(jpeg(1));
  });

  it('deletes, at the start, files in its folder that it has not written itself', async () => {
    await fs.mkdir(path.join(folder, 'aa', 'aaaa', 'x'), { recursive: true });
    await fs.writeFile(path.join(folder, 'aa', 'aaaa', '3_0_0.jpg'), jpeg(1));
    await open().settled();
    expect(await cacheFiles()).toEqual([]);
  });
});
