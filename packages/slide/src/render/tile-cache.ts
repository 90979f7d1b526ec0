import type { Raster } from '../decode/raster.ts';
import type { Slide, TileAddress } from '../model/slide.ts';

/** Bound for the pixels of all slides of a process. The latest tile is cached even when it is larger. */
const MAX_BYTES = 64 * 2 ** 20;

/** In order of use, the least recently used first. */
const cache = new Map<string, Raster>();
let cachedBytes = 0;

const slideNumbers = new WeakMap<Slide, number>();
let nextSlideNumber = 0;

/**
 * Caches decoded tiles of the file from which several rendered tiles are cut one after the other, such as
 * strips as wide as the slide.
 *
 * @param shrink reduction of the decoded tile
 * @returns null when `decode` returns null, which is not cached
 */
export async function cachedTile(
  slide: Slide,
  { level, column, row }: TileAddress,
  shrink: number,
  decode: () => Promise<Raster | null>,
): Promise<Raster | null> {
  const number = slideNumbers.get(slide) ?? nextSlideNumber++;
  slideNumbers.set(slide, number);
  const key = `${number} ${level} ${column} ${row} ${shrink}`;
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
  cachedBytes += raster.rgb.length - (cache.get(key)?.rgb.length ?? 0);
  cache.set(key, raster);
  for (const [oldest, { rgb }] of cache) {
    if (cachedBytes <= MAX_BYTES || oldest === key) break;
    cache.delete(oldest);
    cachedBytes -= rgb.length;
  }
}
