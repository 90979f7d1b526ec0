import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTileCache, type TileCache } from './tile-cache.ts';

const log = pino({ level: 'silent' });
const block = 4096;
let folder: string;
let caches: TileCache[];

beforeEach(async () => {
  folder = await fs.mkdtemp(path.join(os.tmpdir(), 'tile-cache-'));
  caches = [];
});
afterEach(async () => {
  for (const cache of caches) await cache.close();
  await fs.rm(folder, { recursive: true });
});

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

/** Begins and ends like a JPEG; `mark` tells one from another. */
const jpeg = (mark: number, size = 100) => {
  const bytes = new Uint8Array(size).fill(mark);
  bytes.set([0xff, 0xd8], 0);
  bytes.set([0xff, 0xd9], size - 2);
  return bytes;
};
const key = (fingerprint: string, name = '3_0_0') => ({ fingerprint, name });

async function diskUse(): Promise<number> {
  const files = await fs.readdir(folder, { recursive: true, withFileTypes: true });
  return files.filter((file) => file.isFile()).length * block;
}

describe('made tiles', () => {
  it('are found again as they were put, each slide its own', async () => {
    const cache = open();
    cache.put(key('aaaa'), jpeg(1));
    cache.put(key('bbbb'), jpeg(2));
    await cache.settled();
    expect(await cache.get(key('aaaa'))).toEqual(Buffer.from(jpeg(1)));
    expect(await cache.get(key('bbbb'))).toEqual(Buffer.from(jpeg(2)));
    expect(await cache.get(key('aaaa', '3_0_1'))).toBeNull();
    expect(await cache.get(key('cccc'))).toBeNull();
  });

  it('answer from memory before they are on the disk', async () => {
    const cache = open({ memory: 1000, disk: 0 });
    cache.put(key('aaaa'), jpeg(1));
    expect(await cache.get(key('aaaa'))).toEqual(jpeg(1));
    expect(await diskUse()).toBe(0);
  });

  it('leave memory when it is full, those longest out of use first', async () => {
    const cache = open({ memory: 250, disk: 0 });
    cache.put(key('a', '1'), jpeg(1));
    cache.put(key('a', '2'), jpeg(2));
    await cache.get(key('a', '1'));
    cache.put(key('a', '3'), jpeg(3));
    expect(await cache.get(key('a', '2'))).toBeNull();
    expect(await cache.get(key('a', '1'))).toEqual(jpeg(1));
    expect(await cache.get(key('a', '3'))).toEqual(jpeg(3));
  });

  it('survive a restart', async () => {
    const before = open();
    before.put(key('aaaa'), jpeg(1));
    await before.close();
    expect(await open().get(key('aaaa'))).toEqual(Buffer.from(jpeg(1)));
  });

  it('never take more of the disk than they may', async () => {
    const cache = open({ disk: 10 * block });
    for (let tile = 0; tile < 40; tile++) {
      cache.put(key(tile % 2 ? 'odd' : 'even', `5_${tile}_0`), jpeg(tile));
      await cache.settled();
      expect(await diskUse()).toBeLessThanOrEqual(10 * block);
    }
    expect(await cache.get(key('odd', '5_39_0'))).toEqual(Buffer.from(jpeg(39)));
    expect(await cache.get(key('even', '5_0_0'))).toBeNull();
  });

  it('count what an earlier run left', async () => {
    const before = open({ disk: 10 * block });
    for (let tile = 0; tile < 10; tile++) before.put(key('old', `5_${tile}_0`), jpeg(tile));
    await before.close();
    const after = open({ disk: 10 * block });
    after.put(key('new'), jpeg(1));
    await after.settled();
    expect(await diskUse()).toBeLessThanOrEqual(10 * block);
    expect(await after.get(key('new'))).not.toBeNull();
  });

  it('fit into a smaller bound after the setting was changed', async () => {
    const before = open({ disk: 20 * block });
    for (let tile = 0; tile < 20; tile++) before.put(key('old', `5_${tile}_0`), jpeg(tile));
    await before.close();
    await open({ disk: 5 * block }).settled();
    expect(await diskUse()).toBeLessThanOrEqual(5 * block);
  });

  it('count as missing when the file was cut short', async () => {
    const cache = open();
    cache.put(key('aaaa'), jpeg(1));
    await cache.settled();
    const file = path.join(folder, 'aa', 'aaaa', '3_0_0.jpg');
    await fs.truncate(file, 50);
    expect(await cache.get(key('aaaa'))).toBeNull();
    cache.put(key('aaaa'), jpeg(2));
    await cache.settled();
    expect(await cache.get(key('aaaa'))).toEqual(Buffer.from(jpeg(2)));
  });

  it('are served on when the disk refuses them', async () => {
    await fs.rm(folder, { recursive: true });
    await fs.writeFile(folder, 'a file where the folder should be');
    const cache = open({ memory: 1000 });
    cache.put(key('aaaa'), jpeg(1));
    await cache.settled();
    expect(await cache.get(key('aaaa'))).toEqual(jpeg(1));
  });
});
