/** Rendered tiles in memory: an LRU cache that is limited by the bytes of its tiles. */
import { LRUCache } from 'lru-cache';

export interface TileKey {
  /** Fingerprint of the slide, URL-safe. */
  readonly fingerprint: string;
  /** Name of the tile in its slide: letters, digits, `_` and `-`. */
  readonly name: string;
}

export interface TileMemoryCache {
  get(key: TileKey): Uint8Array | null;
  /** @param jpeg a complete JPEG */
  put(key: TileKey, jpeg: Uint8Array): void;
  bytes(): number;
}

/** @param maxBytes 0: nothing is cached */
export function createTileMemoryCache(maxBytes: number): TileMemoryCache {
  if (maxBytes === 0) return { get: () => null, put: () => {}, bytes: () => 0 };
  const tiles = new LRUCache<string, Uint8Array>({
    maxSize: maxBytes,
    sizeCalculation: ({ byteLength }) => byteLength,
  });
  const nameOf = ({ fingerprint, name }: TileKey) => `${fingerprint}/${name}`;
  return {
    get: (key) => tiles.get(nameOf(key)) ?? null,
    put: (key, jpeg) => void tiles.set(nameOf(key), jpeg),
    bytes: () => tiles.calculatedSize,
  };
}
