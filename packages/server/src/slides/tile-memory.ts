/** Made tiles in memory, bounded by their bytes: those longest out of use go first. */

export interface TileKey {
  /** URL-safe. */
  readonly fingerprint: string;
  /** Letters, digits, `_` and `-`: which picture of the slide. */
  readonly name: string;
}

export interface TileMemory {
  get(key: TileKey): Uint8Array | null;
  /** A complete JPEG; the same one put twice is kept once. */
  put(key: TileKey, jpeg: Uint8Array): void;
  bytes(): number;
}

export function createTileMemory(maxBytes: number): TileMemory {
  /** The order of a Map is the order of use. */
  const kept = new Map<string, Uint8Array>();
  let bytes = 0;

  const nameOf = ({ fingerprint, name }: TileKey) => `${fingerprint}/${name}`;

  function drop(name: string): void {
    bytes -= kept.get(name)?.byteLength ?? 0;
    kept.delete(name);
  }

  function remember(name: string, jpeg: Uint8Array): void {
    drop(name);
    kept.set(name, jpeg);
    bytes += jpeg.byteLength;
    for (const oldest of kept.keys()) {
      if (bytes <= maxBytes) break;
      drop(oldest);
    }
  }

  return {
    get(key) {
      const name = nameOf(key);
      const jpeg = kept.get(name);
      if (jpeg === undefined) return null;
      remember(name, jpeg);
      return jpeg;
    },
    put: (key, jpeg) => remember(nameOf(key), jpeg),
    bytes: () => bytes,
  };
}
