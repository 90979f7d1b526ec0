/**
 * Limits of a VSI slide. A file that exceeds one is rejected with LIMIT_EXCEEDED: real slides stay far below, and a
 * hostile file must not turn a few bytes into hours or gigabytes.
 */
export const limits = {
  /** Fields of the .vsi file that are visited. */
  fields: 2 ** 18,
  /** Nesting depth of volumes. */
  depth: 32,
  /** Bytes of a value that is read; colour tables have 768. */
  valueBytes: 4096,
  stacks: 4096,
  /** Coordinates of a tile: column, row, focus, time, channel, resolution, … */
  dimensions: 16,
  /** Tiles of an .ets file, of all resolutions, focal planes and channels together. */
  tiles: 2 ** 20,
  /** Positions for tiles in all resolutions, with or without a tile. */
  places: 2 ** 22,
  channels: 16,
  levels: 32,
  /** Pixels. */
  tileSide: 8192,
  imageSide: 2 ** 31 - 1,
  /** Pixels of one tile, of all channels together. */
  tilePixels: 2 ** 26,
  /** Bytes of one stored tile. */
  tileBytes: 2 ** 28,
  /** Pixels of an associated image. */
  associatedPixels: 2 ** 24,
} as const;
