/** LRU cache of rendered tiles in memory, limited by the total size of its tiles in bytes. */
import { LRUCache } from 'lru-cache';

export interface TileKey {
  /** Fingerprint of the slide, URL-safe. */
  readonly fingerprint: string;
  /** Name of the tile in its slide: letters, digits, `_` and `-`. */
  readonly name: string;
}

export interface TileMemoryCache {
  get(key: TileKey): Uint8Array | null;
  put(key: TileKey, bytes: Uint8Array): void;
  bytes(): number; // of all cached tiles
}

/** @param maxBytes limit for the size of all tiles; 0: nothing is cached */
export function createTileMemoryCache(maxBytes: number): TileMemoryCache {
  if (maxBytes === 0) return { get: () => null, put: () => {}, bytes: () => 0 };
  const tiles = new LRUCache<string, Uint8Array>({
    maxSize: maxBytes,
    sizeCalculation: ({ byteLength }) => byteLength,
  });
  const cacheKeyOf = ({ fingerprint, name }: TileKey) => `${fingerprint}/${name}`;
  return {
    get: (key) => tiles.get(cacheKeyOf(key)) ?? null,
    put: (key, bytes) => void tiles.set(cacheKeyOf(key), bytes),
    bytes: () => tiles.calculatedSize,
  };
}
