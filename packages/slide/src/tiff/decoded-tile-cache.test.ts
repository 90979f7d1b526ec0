import { describe, expect, it } from 'vitest';
import type { EncodedImage } from '../model/slide.ts';
import { readDecodedTile } from './decoded-tile-cache.ts';
import type { ReadTile } from './tiff-image.ts';

/** Returns a tile reader and the number of its calls so far. */
function countingReader(readColumn: (column: number) => EncodedImage | null): {
  read: ReadTile;
  reads: () => number;
} {
  let reads = 0;
  const read: ReadTile = async (column) => {
    reads++;
    return readColumn(column);
  };
  return { read, reads: () => reads };
}

/** Returns a tile of 3 MiB when decoded: 1024 × 1024 pixels of 3 bytes. */
const tile = (): EncodedImage => ({
  codec: 'rgb',
  bytes: new Uint8Array(1024 * 1024 * 3),
  width: 1024,
  height: 1024,
});

describe('readDecodedTile (reads TIFF tiles through a cache of decoded tiles)', () => {
  it('reads and decodes a tile once, also for concurrent calls', async () => {
    const { read, reads } = countingReader(tile);
    const [first, second] = await Promise.all([readDecodedTile(read, 0, 0), readDecodedTile(read, 0, 0)]);
    expect(first).toBe(second);
    expect(await readDecodedTile(read, 0, 0)).toBe(first);
    expect(reads()).toBe(1);
  });

  it('reads a tile of another position or another image instead of returning the cached tile', async () => {
    const [first, second] = [countingReader(tile), countingReader(tile)];
    await readDecodedTile(first.read, 0, 0);
    await readDecodedTile(first.read, 0, 1);
    await readDecodedTile(second.read, 0, 0);
    expect([first.reads(), second.reads()]).toEqual([2, 1]);
  });

  it('evicts the least recently used tile when the decoded tiles exceed 32 MiB', async () => {
    const { read, reads } = countingReader(tile);
    // Ten tiles of 3 MiB fit; the eleventh evicts column 1, because column 0 is read again before.
    for (let column = 0; column < 10; column++) await readDecodedTile(read, column, 0);
    await readDecodedTile(read, 0, 0);
    await readDecodedTile(read, 10, 0);
    expect(reads()).toBe(11);
    await readDecodedTile(read, 0, 0);
    expect(reads()).toBe(11);
    await readDecodedTile(read, 1, 0);
    expect(reads()).toBe(12);
  });

  it('returns null for a tile that the file does not store, and caches this result', async () => {
    const { read, reads } = countingReader(() => null);
    expect([await readDecodedTile(read, 0, 0), await readDecodedTile(read, 0, 0)]).toEqual([null, null]);
    expect(reads()).toBe(1);
  });

  it('reads a tile again after a failed read', async () => {
    let diskFails = true;
    const { read, reads } = countingReader(() => {
      if (diskFails) throw new Error('disk read failed');
      return tile();
    });
    await expect(readDecodedTile(read, 0, 0)).rejects.toThrow('disk read failed');
    diskFails = false;
    expect(await readDecodedTile(read, 0, 0)).toMatchObject({ width: 1024 });
    expect(reads()).toBe(2);
  });
});
