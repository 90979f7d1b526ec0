/**
 * What a VSI slide may ask for. A file that asks for more is refused with LIMIT_EXCEEDED: real slides stay far
 * below, and a hostile one must not turn a few bytes into hours or gigabytes.
 */
export const limits = {
  /** Fields of the .vsi file that are looked at. */
  fields: 2 ** 18,
  /** Volumes within volumes. */
  depth: 32,
  /** Bytes of a value that is kept; tables of colours have 768. */
  valueBytes: 4096,
  stacks: 4096,
  /** Numbers that say where a tile is: column, row, focus, time, channel, resolution, … */
  dimensions: 16,
  /** Tiles of an .ets file, all resolutions, focus planes and channels together. */
  tiles: 2 ** 20,
  /** Places for tiles in all resolutions, whether there is one or not. */
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
  /** Pixels of a picture beside the slide. */
  associatedPixels: 2 ** 24,
} as const;
