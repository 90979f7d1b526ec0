/**
 * Limits of a CZI file. A file that exceeds one is rejected with LIMIT_EXCEEDED: real slides stay far below, and a
 * hostile file must not turn a few bytes into hours or gigabytes.
 */
export const limits = {
  /** Subblocks in the directory: all positions, resolutions, channels, focal planes and times together. */
  subblocks: 2 ** 20,
  /** Subblocks that are displayed. */
  displayedSubblocks: 2 ** 18,
  dimensionsPerSubblock: 40,
  /** Bytes of the metadata. */
  xmlBytes: 16 * 2 ** 20,
  attachments: 4096,
  channels: 16,
  levels: 32,
  /** Pixels. */
  imageSide: 2 ** 31 - 1,
  /** A slide of 25 × 75 mm at 0.1 µm has 2^37.5. */
  imagePixels: 2 ** 38,
  /** Bytes of one subblock as it is stored, and decoded. */
  subblockBytes: 2 ** 27,
  /** Entries of a level's index: bands of rows that each subblock overlaps, over all subblocks. */
  indexEntries: 2 ** 21,
  /** Subblocks that one tile is composed of. */
  subblocksPerTile: 256,
  /** Pixels of an associated image. */
  associatedPixels: 2 ** 24,
  /** Bytes of an associated image. */
  associatedBytes: 64 * 2 ** 20,
} as const;
