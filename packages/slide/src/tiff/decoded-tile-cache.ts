/** LRU cache of decoded tiles, shared by all slides of a process. */
import { LRUCache } from 'lru-cache';
import { decodeImage } from '../decode/decode-image.ts';
import type { Raster } from '../decode/raster.ts';
import type { ReadTile } from './tiff-image.ts';

/** Limit for all images of a process together; the most recent tile is kept whatever its size. */
const MAX_BYTES = 32 * 2 ** 20;

/** Tiles by image and position. A tile has the size 1 while it is decoded. */
const cache = new LRUCache<string, Promise<Raster | null>>({ maxSize: MAX_BYTES });
const numbers = new WeakMap<ReadTile, number>();
let imageCount = 0;
let last: Promise<unknown> = Promise.resolve();

/**
 * Decodes a stored tile that several composed tiles need; it is decoded once while it is in the LRU cache.
 *
 * It takes no signal, because other callers may wait for the same tile. Tiles are decoded one at a time, so that
 * memory does not depend on the number of concurrent requests.
 *
 * @returns null for an empty tile
 */
export function decodeCached(readTile: ReadTile, column: number, row: number): Promise<Raster | null> {
  const number = numbers.get(readTile) ?? imageCount++;
  numbers.set(readTile, number);
  const key = `${number} ${column} ${row}`;
  const cached = cache.get(key);
  if (cached) return cached;
  const raster = last.then(async () => {
    const image = await readTile(column, row);
    return image && decodeImage(image);
  });
  last = raster.catch(() => {});
  cache.set(key, raster, { size: 1 });
  raster.then(
    (decoded) => {
      if (decoded === null) return;
      // Another promise, because setting the same value again would not change its size. The cache does not take an
      // entry above its limit.
      cache.set(key, Promise.resolve(decoded), { size: Math.min(decoded.rgb.length, MAX_BYTES) });
    },
    () => cache.delete(key),
  );
  return raster;
}
