/**
 * Limits of a CZI file. Real slides stay below all of them. A file that exceeds one is rejected with LIMIT_EXCEEDED, because a
 * small hostile file must not cost hours of CPU time or gigabytes of memory.
 */
export const limits = {
  /** Subblocks (stored images) in the directory: all positions, resolutions, channels, focal planes and times together. */
  subblocks: 2 ** 20,
  /** Subblocks of the displayed focal plane and time point. */
  displayedSubblocks: 2 ** 18,
  dimensionsPerSubblock: 40,
  xmlBytes: 16 * 2 ** 20,
  attachments: 4096,
  channels: 16,
  levels: 32,
  /** Pixels of the longer side of the image. */
  imageSide: 2 ** 31 - 1,
  /** Pixels of the image: 2.7 × 10^11. A whole glass of 25 × 75 mm at 0.1 µm per pixel has 1.9 × 10^11. */
  imagePixels: 2 ** 38,
  /** Bytes of one compressed subblock, both as stored and as decoded. */
  subblockBytes: 2 ** 27,
  /** Entries in the index of a level. The index (mosaic.ts) lists the subblocks in each band of 512 rows. */
  indexEntries: 2 ** 21,
  /** Subblocks that one tile is composed of. */
  subblocksPerTile: 256,
  /** Pixels of an associated image (such as a label), and bytes of the attachment that contains it. */
  associatedPixels: 2 ** 24,
  associatedBytes: 64 * 2 ** 20,
} as const;
