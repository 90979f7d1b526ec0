import { decodeImage } from '../decode/decode-image.ts';
import type { Raster } from '../decode/raster.ts';
import type { ReadTile } from './picture.ts';

/** Of all pictures of a process together; whatever its size, the last one is kept. */
const MOST_BYTES = 32 * 2 ** 20;

interface KeptTile {
  readonly raster: Promise<Raster | null>;
  /** 0 while it is decoded. */
  bytes: number;
}

/** By picture and place, the one used longest ago first. */
const kept = new Map<string, KeptTile>();
const numbers = new WeakMap<ReadTile, number>();
let pictures = 0;
let last: Promise<unknown> = Promise.resolve();

/**
 * A stored tile that several tiles are put together from, one after the other: it is decoded once as long as it is
 * among the last few.
 *
 * It takes no signal: whoever else waits for the tile still wants it. One is decoded after the other, so that memory
 * does not depend on how many are asked for at once.
 *
 * @returns null for a tile that was left empty
 */
export function decodeKept(readTile: ReadTile, column: number, row: number): Promise<Raster | null> {
  const number = numbers.get(readTile) ?? pictures++;
  numbers.set(readTile, number);
  const key = `${number} ${column} ${row}`;
  const known = kept.get(key);
  if (known) {
    kept.delete(key);
    kept.set(key, known);
    return known.raster;
  }
  const raster = last.then(async () => {
    const image = await readTile(column, row);
    return image && decodeImage(image);
  });
  last = raster.catch(() => {});
  const tile: KeptTile = { raster, bytes: 0 };
  kept.set(key, tile);
  tile.raster.then(
    (decoded) => {
      tile.bytes = decoded?.rgb.length ?? 0;
      forgetOldest(tile);
    },
    () => kept.delete(key),
  );
  return tile.raster;
}

function forgetOldest(newest: KeptTile): void {
  let bytes = 0;
  for (const tile of kept.values()) bytes += tile.bytes;
  for (const [key, tile] of kept) {
    if (bytes <= MOST_BYTES) return;
    if (tile === newest || tile.bytes === 0) continue;
    bytes -= tile.bytes;
    kept.delete(key);
  }
}
