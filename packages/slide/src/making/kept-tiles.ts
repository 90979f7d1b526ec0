import type { Raster } from '../decode/raster.ts';
import type { Slide, TileAddress } from '../slide.ts';

/** Pixels of all slides of a process together; whatever its size, the last one is kept. */
const MOST_BYTES = 64 * 2 ** 20;

/** The one used longest ago first. */
const kept = new Map<string, Raster>();
let keptBytes = 0;

const numbers = new WeakMap<Slide, number>();
let slides = 0;

/**
 * Tiles of the file from which several made tiles are cut, one after the other: strips as wide as the slide, say. They
 * are decoded once as long as they are among the last few.
 *
 * @param shrink how much smaller it was decoded
 * @returns null when `decode` does: then nothing is kept
 */
export async function keptTile(
  slide: Slide,
  { level, column, row }: TileAddress,
  shrink: number,
  decode: () => Promise<Raster | null>,
): Promise<Raster | null> {
  const number = numbers.get(slide) ?? slides++;
  numbers.set(slide, number);
  const key = `${number} ${level} ${column} ${row} ${shrink}`;
  const known = kept.get(key);
  if (known) {
    kept.delete(key);
    kept.set(key, known);
    return known;
  }
  const raster = await decode();
  if (raster) keep(key, raster);
  return raster;
}

function keep(key: string, raster: Raster): void {
  keptBytes += raster.rgb.length - (kept.get(key)?.rgb.length ?? 0);
  kept.set(key, raster);
  for (const [oldest, { rgb }] of kept) {
    if (keptBytes <= MOST_BYTES || oldest === key) break;
    kept.delete(oldest);
    keptBytes -= rgb.length;
  }
}
