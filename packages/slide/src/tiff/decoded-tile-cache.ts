/** LRU cache of decoded tiles, shared by all slides of a process. */
import { LRUCache } from 'lru-cache';
import { decodeImage } from '../decode/decode-image.ts';
import type { Raster } from '../decode/raster.ts';
import type { ReadTile } from './tiff-image.ts';

/** Maximum bytes of the tiles in the cache. A single tile with more bytes is counted as this size. */
const MAX_BYTES = 32 * 2 ** 20;

/** Tiles by image and position. While a tile is being decoded, its size is not known, and 1 byte is counted for it. */
const cache = new LRUCache<string, Promise<Raster | null>>({ maxSize: MAX_BYTES });
/** A number for each image, identified by its read function; part of the cache keys. */
const imageNumbers = new WeakMap<ReadTile, number>();
let imageCount = 0;
/** Settles when the tile that was requested last is decoded. */
let lastDecoding: Promise<unknown> = Promise.resolve();

/**
 * Reads and decodes a tile of the file, or returns it from the cache. mosaic-level.ts needs the cache, because several of its
 * composed tiles show parts of the same tile of the file.
 *
 * Decoding cannot be aborted, because other callers may wait for the same tile. Tiles are decoded one at a time, so that
 * memory does not depend on the number of concurrent requests.
 *
 * @returns null for an empty tile
 */
export function readDecodedTile(readTile: ReadTile, column: number, row: number): Promise<Raster | null> {
  const imageNumber = imageNumbers.get(readTile) ?? imageCount++;
  imageNumbers.set(readTile, imageNumber);
  const key = `${imageNumber} ${column} ${row}`;
  const cached = cache.get(key);
  if (cached) return cached;
  const decoding = lastDecoding.then(async () => {
    const image = await readTile(column, row);
    return image && decodeImage(image);
  });
  lastDecoding = decoding.catch(() => {}); // a failure must not prevent decoding of the next tile
  cache.set(key, decoding, { size: 1 });
  decoding.then(
    (decoded) => {
      if (decoded === null) return;
      // Sets a new promise, because setting the same value again would not change its size. The size is capped because the
      // cache rejects an entry that is larger than the cache.
      cache.set(key, Promise.resolve(decoded), { size: Math.min(decoded.rgb.length, MAX_BYTES) });
    },
    () => cache.delete(key),
  );
  return decoding;
}
