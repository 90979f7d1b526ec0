import { describe, expect, it } from 'vitest';
import type { EncodedImage } from '../model/slide.ts';
import { decodeCached } from './decoded-tile-cache.ts';
import type { ReadTile } from './tiff-image.ts';

/** Tiles of one colour, 1024 pixels wide and high: 3 MiB each when they are decoded. */
function countedTiles(answer: (column: number) => EncodedImage | null): {
  read: ReadTile;
  reads: () => number;
} {
  let reads = 0;
  const read: ReadTile = async (column) => {
    reads++;
    return answer(column);
  };
  return { read, reads: () => reads };
}

const tile = (): EncodedImage => ({
  codec: 'rgb',
  bytes: new Uint8Array(1024 * 1024 * 3),
  width: 1024,
  height: 1024,
});

describe('decodeCached', () => {
  it('reads and decodes a tile once, also for concurrent calls', async () => {
    const { read, reads } = countedTiles(tile);
    const [one, other] = await Promise.all([decodeCached(read, 0, 0), decodeCached(read, 0, 0)]);
    expect(one).toBe(other);
    expect(await decodeCached(read, 0, 0)).toBe(one);
    expect(reads()).toBe(1);
  });

  it('separates tiles by position and by image', async () => {
    const [first, second] = [countedTiles(tile), countedTiles(tile)];
    await decodeCached(first.read, 0, 0);
    await decodeCached(first.read, 0, 1);
    await decodeCached(second.read, 0, 0);
    expect([first.reads(), second.reads()]).toEqual([2, 1]);
  });

  it('evicts the least recently used tiles above 32 MiB', async () => {
    const { read, reads } = countedTiles(tile);
    for (let column = 0; column < 10; column++) await decodeCached(read, column, 0);
    await decodeCached(read, 0, 0);
    await decodeCached(read, 10, 0);
    expect(reads()).toBe(11);
    await decodeCached(read, 0, 0);
    expect(reads()).toBe(11);
    await decodeCached(read, 1, 0);
    expect(reads()).toBe(12);
  });

  it('caches empty tiles', async () => {
    const { read, reads } = countedTiles(() => null);
    expect([await decodeCached(read, 0, 0), await decodeCached(read, 0, 0)]).toEqual([null, null]);
    expect(reads()).toBe(1);
  });

  it('does not cache a failed read', async () => {
    let isAway = true;
    const { read, reads } = countedTiles(() => {
      if (isAway) throw new Error('The disk is away');
      return tile();
    });
    await expect(decodeCached(read, 0, 0)).rejects.toThrow('The disk is away');
    isAway = false;
    expect(await decodeCached(read, 0, 0)).toMatchObject({ width: 1024 });
    expect(reads()).toBe(2);
  });
});
