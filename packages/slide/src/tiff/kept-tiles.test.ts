import { describe, expect, it } from 'vitest';
import type { EncodedImage } from '../slide.ts';
import { decodeKept } from './kept-tiles.ts';
import type { ReadTile } from './picture.ts';

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

describe('stored tiles that are needed again', () => {
  it('are read and decoded once, also when asked for at once', async () => {
    const { read, reads } = countedTiles(tile);
    const [one, other] = await Promise.all([decodeKept(read, 0, 0), decodeKept(read, 0, 0)]);
    expect(one).toBe(other);
    expect(await decodeKept(read, 0, 0)).toBe(one);
    expect(reads()).toBe(1);
  });

  it('are told apart by their place and by their picture', async () => {
    const [first, second] = [countedTiles(tile), countedTiles(tile)];
    await decodeKept(first.read, 0, 0);
    await decodeKept(first.read, 0, 1);
    await decodeKept(second.read, 0, 0);
    expect([first.reads(), second.reads()]).toEqual([2, 1]);
  });

  it('are forgotten when there are more than 32 MiB, the one used longest ago first', async () => {
    const { read, reads } = countedTiles(tile);
    for (let column = 0; column < 10; column++) await decodeKept(read, column, 0);
    await decodeKept(read, 0, 0);
    await decodeKept(read, 10, 0);
    expect(reads()).toBe(11);
    await decodeKept(read, 0, 0);
    expect(reads()).toBe(11);
    await decodeKept(read, 1, 0);
    expect(reads()).toBe(12);
  });

  it('that were left empty are known to be', async () => {
    const { read, reads } = countedTiles(() => null);
    expect([await decodeKept(read, 0, 0), await decodeKept(read, 0, 0)]).toEqual([null, null]);
    expect(reads()).toBe(1);
  });

  it('that could not be read are read again', async () => {
    let isAway = true;
    const { read, reads } = countedTiles(() => {
      if (isAway) throw new Error('The disk is away');
      return tile();
    });
    await expect(decodeKept(read, 0, 0)).rejects.toThrow('The disk is away');
    isAway = false;
    expect(await decodeKept(read, 0, 0)).toMatchObject({ width: 1024 });
    expect(reads()).toBe(2);
  });
});
