/**
 * Limits of a VSI slide. Real slides stay below all of them. A file that exceeds one is rejected with LIMIT_EXCEEDED, because a
 * small hostile file must not cost hours of CPU time or gigabytes of memory.
 */
export const limits = {
  /** Visited fields of the tag tree in the .vsi file. */
  fields: 2 ** 18,
  /** Nesting depth of volumes, the inner nodes of the tag tree. */
  depth: 32,
  /** Bytes of a value that is read; colour tables have 768. */
  valueBytes: 4096,
  /** Bytes of all values that are read; they stay in memory together. */
  allValueBytes: 2 ** 24,
  /** Images of the slide: scanned areas and associated images. */
  stacks: 4096,
  /** Coordinates of a tile: column, row, focus, time, channel, resolution, … */
  dimensions: 16,
  /** Tiles of an .ets file, of all resolutions, focal planes and channels together. */
  tiles: 2 ** 20,
  /** Grid cells of all resolutions and channels, with or without a tile. */
  gridCells: 2 ** 22,
  channels: 16,
  levels: 32,
  /** Pixels of the longer side of a tile, and of the longer side of the image. */
  tileSide: 8192,
  imageSide: 2 ** 31 - 1,
  /** Pixels of one tile, of all channels together. */
  tilePixels: 2 ** 26,
  /** Bytes of one tile of the file. */
  tileBytes: 2 ** 28,
  associatedPixels: 2 ** 24,
} as const;
