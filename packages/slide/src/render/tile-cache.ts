/** A cache of decoded tiles of the file that are much larger than rendered tiles, such as strips (as wide as the image). */
import type { Raster } from '../decode/raster.ts';
import type { Slide, TileAddress } from '../model/slide.ts';

/** Maximum bytes of decoded tiles, for all slides of a process together. The latest tile is cached even if it is larger. */
const MAX_BYTES = 64 * 2 ** 20;

/** LRU cache: a Map iterates in insertion order, and a hit is inserted again, so the least recently used tile is first. */
const cache = new Map<string, Raster>();
let cachedBytes = 0;

/** A number for each open slide, which is part of the cache keys of its tiles. */
const slideNumbers = new WeakMap<Slide, number>();
let nextSlideNumber = 0;

/**
 * Returns a decoded tile of the file from the cache, or decodes and caches it. Several rendered tiles are cut from such a
 * tile one after the other.
 *
 * @param shrink factor by which the tile is reduced during decoding
 * @returns null when `decode` returns null; this result is not cached
 */
export async function cachedTile(
  slide: Slide,
  { level, column, row }: TileAddress,
  shrink: number,
  decode: () => Promise<Raster | null>,
): Promise<Raster | null> {
  const slideNumber = slideNumbers.get(slide) ?? nextSlideNumber++;
  slideNumbers.set(slide, slideNumber);
  const key = `${slideNumber} ${level} ${column} ${row} ${shrink}`;
  const cached = cache.get(key);
  if (cached) {
    cache.delete(key);
    cache.set(key, cached);
    return cached;
  }
  const raster = await decode();
  if (raster) addToCache(key, raster);
  return raster;
}

function addToCache(key: string, raster: Raster): void {
  // Two concurrent calls may decode the same tile; the later one replaces the earlier.
  cachedBytes += raster.rgb.length - (cache.get(key)?.rgb.length ?? 0);
  cache.set(key, raster);
  for (const [oldest, { rgb }] of cache) {
    if (cachedBytes <= MAX_BYTES || oldest === key) break;
    cache.delete(oldest);
    cachedBytes -= rgb.length;
  }
}
